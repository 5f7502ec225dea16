import { lazy, Suspense } from "react";
import { useStore } from "zustand";
import type { LayoutControl } from "./layoutStore";
import type { OpenPlaybook } from "./openPlaybook";
import type { VersionControl } from "./useVersions";

const ExportDialog = lazy(() =>
	import("./ExportDialog").then((module) => ({ default: module.ExportDialog })),
);
const VersionsDialog = lazy(() =>
	import("./VersionsDialog").then((module) => ({ default: module.VersionsDialog })),
);

export interface OversProps {
	open: OpenPlaybook;
	layout: LayoutControl;
	control: VersionControl;
}

/** The large dialogs; each is fetched when it is first opened. */
export function Overs(props: OversProps) {
	const { layout } = props;
	const over = useStore(layout.store, (state) => state.over);
	const close = () => layout.showOver(null);
	return (
		<Suspense fallback={null}>
			{over === "exports" && <ExportDialog open={props.open} onClose={close} />}
			{over === "versions" && <VersionsDialog open={props.open} control={props.control} onClose={close} />}
		</Suspense>
	);
}
