import type { LiveSessionStore } from "../api/socket";
import type { Playbook } from "../playbook/types";

export interface InspectorPanelProps {
	live: LiveSessionStore;
	sessionId: string;
	callId: string | null;
	document: Playbook;
	maximised: boolean;
	onCallSelected: (callId: string) => void;
	onStageSelected: (stageId: string) => void;
	onTransitionSelected: (transitionId: string) => void;
	onMaximise: () => void;
	onClose: () => void;
}

export function InspectorPanel(props: InspectorPanelProps) {
	return <p>{props.sessionId}</p>;
}
