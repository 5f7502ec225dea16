/** What is open in the workbench, and how large. */
import { createStore } from "zustand/vanilla";

export type Column = "properties" | "talk";
/** A dialog over the workbench. */
export type Over = "exports" | "versions" | null;
export type Tab = "graph" | "properties" | "talk" | "inspector";

export interface WorkbenchLayout {
	/** What the right column shows; null when it is closed. */
	readonly column: Column | null;
	/** Talk was opened once: its panel stays, so that nothing typed is lost. */
	readonly talked: boolean;
	readonly inspector: boolean;
	readonly call: number | null;
	/** The tab in front on narrow screens. */
	readonly tab: Tab;
	readonly dockHeight: number;
	readonly over: Over;
}

const KEY = "ps.dockHeight";
const DEFAULT_HEIGHT = 320;
export const MIN_DOCK = 160;

function rememberedHeight(): number {
	const height = Number(localStorage.getItem(KEY));
	return Number.isFinite(height) && height >= MIN_DOCK ? height : DEFAULT_HEIGHT;
}

export function createLayout() {
	const store = createStore<WorkbenchLayout>(() => ({
		column: null,
		talked: false,
		inspector: false,
		call: null,
		tab: "graph",
		dockHeight: rememberedHeight(),
		over: null,
	}));
	return {
		store,
		openProperties: (small: boolean) =>
			store.setState(small ? { column: "properties", tab: "properties" } : { column: "properties" }),
		openTalk: () => store.setState({ column: "talk", talked: true, tab: "talk" }),
		showCall: (call: number | null) => store.setState({ call, inspector: true, tab: "inspector" }),
		/** Shows a call where there is room, and is there when the inspector's tab is opened where there is not. */
		offerCall: (call: number) => store.setState({ call, inspector: true }),
		closeInspector: () => store.setState({ inspector: false, tab: "graph" }),
		showOver: (over: Over) => store.setState({ over }),
		closeColumn: () => store.setState({ column: null }),
		/** The top-most panel goes first. */
		closeTopMost(): boolean {
			const { inspector, column } = store.getState();
			if (column) store.setState({ column: null, tab: "graph" });
			else if (inspector) store.setState({ inspector: false, tab: "graph" });
			return inspector || column !== null;
		},
		resizeDock(height: number) {
			const dockHeight = Math.max(MIN_DOCK, Math.min(height, window.innerHeight - 200));
			store.setState({ dockHeight });
			localStorage.setItem(KEY, String(Math.round(dockHeight)));
		},
	};
}

export type LayoutControl = ReturnType<typeof createLayout>;
