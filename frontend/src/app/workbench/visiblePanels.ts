import type { Mode } from "../../ui/screen";
import type { WorkbenchLayout } from "./layoutStore";

/** Which panels can be seen. Properties stand beside the graph unless the screen is small. */
export function visiblePanels(mode: Mode, { column, inspector, tab }: WorkbenchLayout) {
	const graph = mode === "wide" || tab === "graph" || (mode === "medium" && tab === "properties");
	const properties = mode === "small" ? tab === "properties" : graph && column === "properties";
	return {
		graph,
		properties,
		talk: mode === "wide" ? column === "talk" : tab === "talk",
		inspector: mode === "wide" ? inspector : tab === "inspector",
	};
}
