import type { KnownCall } from "../api/frames";
import type { LiveSessionStore } from "../api/session";
import type { Playbook } from "../playbook/types";

/** What the workbench gives the inspector. */
export interface InspectorPanelProps {
	live: LiveSessionStore;
	sessionId: string;
	/** Number of the call to show; null is the latest. */
	call: number | null;
	document: Playbook;
	maximised: boolean;
	onCallSelected: (call: number) => void;
	onStageSelected: (stageId: string) => void;
	onTransitionSelected: (transitionId: string) => void;
	onMaximise: () => void;
	onClose: () => void;
}

/** What a tab shows: one call of a session. */
export interface TabProps {
	live: LiveSessionStore;
	sessionId: string;
	call: KnownCall;
	/** The document the session runs. */
	document: Playbook;
	onCallSelected: (call: number) => void;
	onStageSelected: (stageId: string) => void;
	onTransitionSelected: (transitionId: string) => void;
}
