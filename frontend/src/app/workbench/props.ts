import type { VersionSummary } from "../../api/playbooks";
import type { LayoutControl } from "./layoutStore";
import type { OpenPlaybook } from "./openPlaybook";

/** What the parts of the workbench are given. */
export interface PanelsProps {
	open: OpenPlaybook;
	layout: LayoutControl;
	versions: readonly VersionSummary[];
}
