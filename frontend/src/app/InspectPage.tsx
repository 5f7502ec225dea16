import { lazy, Suspense, useEffect, useMemo } from "react";
import { useStore } from "zustand";
import { createLiveSession } from "../api/session";
import type { Playbook } from "../playbook/types";
import { Wait } from "../ui/Wait";
import { Message } from "./Message";
import { navigate, paths } from "./router";
import styles from "./workbench/workbench.module.css";

const InspectorPanel = lazy(() =>
	import("../inspector/InspectorPanel").then(({ InspectorPanel }) => ({ default: InspectorPanel })),
);

/** The inspector of a session as a page of its own, with an address that can be passed on. */
export function InspectPage({ sessionId, call }: { sessionId: string; call: number | null }) {
	const live = useMemo(() => createLiveSession(), []);
	const document = useStore(live, (state) => state.document) as Playbook | null;
	const playbookId = useStore(live, (state) => state.playbookId);
	const connection = useStore(live, (state) => state.connection);
	useEffect(() => {
		void live.getState().attach(sessionId);
		return () => live.getState().close();
	}, [live, sessionId]);

	const back = () => navigate(playbookId ? paths.workbench(playbookId) : paths.gallery());
	if (connection.state === "refused")
		return <Message title="This chat cannot be shown" text={connection.reason} />;
	if (!document) return <Wait what="Opening the chat" />;
	return (
		<main className={styles.full} style={{ height: "100dvh" }} data-panel="inspector">
			<h1 className="ps-visually-hidden">What the model was sent: {document.name}</h1>
			<Suspense fallback={<Wait what="Opening the inspector" />}>
				<InspectorPanel
					live={live}
					sessionId={sessionId}
					call={call}
					document={document}
					maximised
					onCallSelected={(next) => navigate(paths.inspect(sessionId, next), { replace: true })}
					onStageSelected={back}
					onTransitionSelected={back}
					onMaximise={back}
					onClose={back}
				/>
			</Suspense>
		</main>
	);
}
