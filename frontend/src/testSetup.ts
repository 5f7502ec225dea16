/** What Mantine and React Flow ask of a browser and happy-dom does not have. */

import { cleanup } from "@testing-library/react";
import { afterEach } from "vitest";

afterEach(cleanup);

// Mantine's growing text field measures again when fonts have loaded.
if (!("fonts" in document)) Object.defineProperty(document, "fonts", { value: new EventTarget() });
