import type { LiveSessionStore } from "../api/session";
import type { Playbook } from "../playbook/types";

export interface InspectorPanelProps {
	live: LiveSessionStore;
	sessionId: string;
	call: number | null;
	document: Playbook;
	maximised: boolean;
	onCallSelected: (call: number) => void;
	onStageSelected: (stageId: string) => void;
	onTransitionSelected: (transitionId: string) => void;
	onMaximise: () => void;
	onClose: () => void;
}

export function InspectorPanel(props: InspectorPanelProps) {
	return <p>{props.sessionId}</p>;
}
