import type { LiveSessionStore } from "../api/session";
import type { Playbook } from "../playbook/types";

export interface ChatPanelProps {
	live: LiveSessionStore;
	playbookId: string;
	document: Playbook;
	beforeStart: () => Promise<void>;
	selectedCall: number | null;
	onCallSelected: (call: number) => void;
	onStageSelected: (stageId: string) => void;
	onTransitionSelected: (transitionId: string) => void;
}

export function ChatPanel(props: ChatPanelProps) {
	return <p>{props.document.name}</p>;
}
