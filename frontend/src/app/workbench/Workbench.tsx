import { useEffect, useMemo, useState } from "react";
import { getPlaybook, type PlaybookDetail } from "../../api/playbooks";
import type { EditorHost } from "../../editor/editor";
import { EditorProvider } from "../../editor/editor";
import { announce } from "../../editor/operations";
import { enterPropertiesPanel } from "../../editor/properties/enterPanel";
import { isSmallScreen } from "../../ui/screen";
import { Wait } from "../../ui/Wait";
import { Message } from "../Message";
import { useAnswer } from "../useAnswer";
import { downloadExport } from "./exportFile";
import { createLayout, type LayoutControl } from "./layoutStore";
import { type OpenPlaybook, openPlaybook } from "./openPlaybook";
import { Panels } from "./Panels";

function hostFor(layout: LayoutControl, opened: () => OpenPlaybook | null): EditorHost {
	const openProperties = () => layout.openProperties(isSmallScreen());
	return {
		openProperties,
		enterProperties: () => {
			openProperties();
			enterPropertiesPanel();
		},
		openTalk: layout.openTalk,
		inspectStage: (stageId) => {
			const facts = opened()?.live.getState().facts ?? new Map();
			const calls = [...facts].filter(([, { stage }]) => stage === stageId).map(([call]) => call);
			if (calls.length > 0) layout.offerCall(Math.max(...calls));
		},
		closePanel: layout.closeTopMost,
		saveNow: () => {
			const open = opened();
			if (!open) return;
			void open.autosave
				.flush()
				.then((saved) => announce(open.editor, saved ? "Saved." : "Could not be saved yet."));
		},
		exportFile: () => {
			const open = opened();
			if (open) void downloadExport(open);
		},
		exportAs: () => layout.showOver("exports"),
		showVersions: () => layout.showOver("versions"),
	};
}

/** Opens the playbook when shown and closes it when left; in development React does so twice. */
function useOpenPlaybook(detail: PlaybookDetail | null, layout: LayoutControl): OpenPlaybook | null {
	const [open, setOpen] = useState<OpenPlaybook | null>(null);
	useEffect(() => {
		if (!detail) return;
		let mine: OpenPlaybook | null = null;
		mine = openPlaybook(
			detail,
			hostFor(layout, () => mine),
		);
		setOpen(mine);
		return () => mine?.close();
	}, [detail, layout]);
	return open;
}

export function Workbench({ playbookId }: { playbookId: string }) {
	const { data, failure, reload } = useAnswer(() => getPlaybook(playbookId));
	const layout = useMemo(createLayout, []);
	const open = useOpenPlaybook(data, layout);
	useEffect(() => {
		if (data) document.title = `${data.name} · Playbook Studio`;
		return () => {
			document.title = "Playbook Studio";
		};
	}, [data]);

	if (failure && !data)
		return <Message title="The playbook could not be opened" text={failure} retry={reload} />;
	if (!open) return <Wait what="Opening the playbook" />;
	return (
		<EditorProvider value={open.editor}>
			<Panels open={open} layout={layout} versions={data?.versions ?? []} />
		</EditorProvider>
	);
}
