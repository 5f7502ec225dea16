import { updateStage } from "../../playbook/commands";
import { withPositions } from "../../playbook/layout";
import type { Playbook } from "../../playbook/types";

/** What "New playbook" begins with: one stage that can be talked to at once. */
export function blankPlaybook(): Playbook {
	const bare: Playbook = {
		formatVersion: 1,
		id: "new-playbook",
		name: "New playbook",
		stages: [{ id: "start", name: "Start", systemPrompt: "" }],
		initialStage: "start",
	};
	const greeting = "Greet the user and find out what they need.";
	return updateStage(withPositions(bare, { start: { x: 0, y: 0 } }), "start", { systemPrompt: greeting });
}
