/** What Mantine and React Flow ask of a browser and happy-dom does not have. */

import { cleanup } from "@testing-library/react";
import { afterEach } from "vitest";

afterEach(cleanup);
