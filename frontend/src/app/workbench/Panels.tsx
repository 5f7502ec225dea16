import { lazy, type ReactNode, Suspense, useCallback } from "react";
import { useStore } from "zustand";
import { GraphPanel } from "../../editor/GraphPanel";
import { selectStage, selectTransition } from "../../editor/operations";
import { PropertiesPanel } from "../../editor/properties/PropertiesPanel";
import { type Mode, useMode } from "../../ui/screen";
import { Wait } from "../../ui/Wait";
import { navigate, paths } from "../router";
import { ColumnHead } from "./ColumnHead";
import { ConflictDialog } from "./ConflictDialog";
import { Dock } from "./Dock";
import { NarrowTabs } from "./NarrowTabs";
import type { OpenPlaybook } from "./openPlaybook";
import type { PanelsProps } from "./props";
import { TopBar } from "./TopBar";
import { visiblePanels } from "./visiblePanels";
import styles from "./workbench.module.css";

const ChatPanel = lazy(() =>
	import("../../chat/ChatPanel").then(({ ChatPanel }) => ({ default: ChatPanel })),
);
const InspectorPanel = lazy(() =>
	import("../../inspector/InspectorPanel").then(({ InspectorPanel }) => ({ default: InspectorPanel })),
);

function useSelecting({ editor }: OpenPlaybook) {
	const onStageSelected = useCallback(
		(id: string) => {
			selectStage(editor, id);
			editor.view?.reveal([id]);
		},
		[editor],
	);
	const onTransitionSelected = useCallback((id: string) => selectTransition(editor, id), [editor]);
	return { onStageSelected, onTransitionSelected };
}

function Talk({ open, layout }: PanelsProps) {
	const { id, live, autosave, saving, editor } = open;
	const document = useStore(editor.history.store, (state) => state.document);
	const revision = useStore(saving, (state) => state.revision);
	const call = useStore(layout.store, (state) => state.call);
	const flush = useCallback(async () => {
		// A draft that cannot be saved can still be talked to: the session gets the document itself.
		await autosave.flush();
	}, [autosave]);
	return (
		<Suspense fallback={<Wait what="Opening the chat" />}>
			<ChatPanel
				live={live}
				playbookId={id}
				document={document}
				revision={revision}
				beforeStart={flush}
				selectedCall={call}
				onCallSelected={layout.showCall}
				{...useSelecting(open)}
			/>
		</Suspense>
	);
}

function Inspector({ open, layout }: PanelsProps) {
	const document = useStore(open.editor.history.store, (state) => state.document);
	const sessionId = useStore(open.live, (state) => state.sessionId);
	const call = useStore(layout.store, (state) => state.call);
	const selecting = useSelecting(open);
	if (!sessionId) {
		return (
			<p className={styles.note}>Here you will see what the model was sent. Talk, then click a reply.</p>
		);
	}
	return (
		<Suspense fallback={<Wait what="Opening the inspector" />}>
			<InspectorPanel
				live={open.live}
				sessionId={sessionId}
				call={call}
				document={document}
				maximised={false}
				onCallSelected={layout.showCall}
				onMaximise={() => navigate(paths.inspect(sessionId, call))}
				onClose={layout.closeInspector}
				{...selecting}
			/>
		</Suspense>
	);
}

interface FrameProps {
	hidden: boolean;
	label: string;
	/** Names panels that handle their own keys. */
	panel: string | null;
	children: ReactNode;
}

function Frame({ hidden, label, panel, children }: FrameProps) {
	return (
		<aside className={styles.frame} aria-label={label} hidden={hidden} data-panel={panel ?? undefined}>
			{children}
		</aside>
	);
}

interface PlacedProps extends PanelsProps {
	mode: Mode;
	shown: ReturnType<typeof visiblePanels>;
}

/** Properties and talk. The chat stays, hidden, once it was opened: what is typed there is not lost. */
function SideColumn({ mode, shown, ...props }: PlacedProps) {
	const { layout } = props;
	const talked = useStore(layout.store, (state) => state.talked);
	const beside = mode === "wide" || (mode === "medium" && shown.properties);
	const visible = shown.properties || shown.talk;
	const place = beside ? styles.column : styles.full;
	return (
		<section aria-label="Properties and talk" className={visible ? place : styles.none}>
			{beside && <ColumnHead layout={layout} withTalk={mode === "wide"} />}
			<Frame label="Properties" panel={null} hidden={!shown.properties}>
				{shown.properties && <PropertiesPanel />}
			</Frame>
			<Frame label="Talk" panel="talk" hidden={!shown.talk}>
				{talked && <Talk {...props} />}
			</Frame>
		</section>
	);
}

/** Puts the panels in their places: beside one another where there is room, one at a time where there is not. */
export function Panels(props: PanelsProps) {
	const { open, layout } = props;
	const mode = useMode();
	const shown = visiblePanels(mode, useStore(layout.store));
	const narrow = mode !== "wide";
	return (
		<div className={styles.workbench}>
			<TopBar {...props} />
			{narrow && <NarrowTabs layout={layout} withProperties={mode === "small"} />}
			<div className={styles.middle}>
				<main className={styles.graph} hidden={!shown.graph}>
					<GraphPanel />
				</main>
				<SideColumn {...props} mode={mode} shown={shown} />
				{narrow && shown.inspector && (
					<div className={styles.full}>
						<Frame label="Inspector" panel="inspector" hidden={false}>
							<Inspector {...props} />
						</Frame>
					</div>
				)}
			</div>
			{!narrow && shown.inspector && (
				<Dock layout={layout}>
					<Inspector {...props} />
				</Dock>
			)}
			<ConflictDialog open={open} />
		</div>
	);
}
