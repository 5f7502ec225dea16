import type { LiveSessionStore } from "../api/session";
import type { Playbook } from "../playbook/types";

/** What the workbench gives the test chat. */
export interface ChatPanelProps {
	live: LiveSessionStore;
	playbookId: string;
	document: Playbook;
	/** The draft's revision on the server, to say which one a chat runs. */
	revision?: number | undefined;
	beforeStart: () => Promise<void>;
	selectedCall: number | null;
	onCallSelected: (call: number) => void;
	onStageSelected: (stageId: string) => void;
	onTransitionSelected: (transitionId: string) => void;
}
