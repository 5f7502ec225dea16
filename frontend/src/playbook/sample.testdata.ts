/** A small playbook for tests: greeting → triage → farewell, and a called look-up stage that returns. */
import type { Playbook } from "./types";

export function sample(): Playbook {
	return {
		formatVersion: 1,
		id: "support",
		name: "Support",
		stages: [
			{ id: "greeting", name: "Greeting", systemPrompt: "Welcome the customer." },
			{ id: "triage", name: "Triage", systemPrompt: "Find out what it is about." },
			{ id: "lookup", name: "Look up order", systemPrompt: "Look it up." },
			{ id: "farewell", name: "Farewell", systemPrompt: "Thank the customer.", kind: "end" },
		],
		transitions: [
			{ id: "g-t", from: "greeting", condition: { type: "llm_decision" }, action: { targetStage: "triage" } },
			{
				id: "t-l",
				from: "triage",
				condition: { type: "tool_call", toolName: "find_order", outcome: "success" },
				action: { targetStage: "lookup", mode: "call" },
			},
			{ id: "l-r", from: "lookup", condition: { type: "max_turns", count: 1 }, action: { mode: "return" } },
			{
				id: "t-f",
				from: "triage",
				condition: { type: "keyword", keywords: ["bye"], source: "user" },
				action: { targetStage: "farewell" },
			},
		],
		initialStage: "greeting",
		globalTools: [{ name: "find_order", implementation: { type: "client" } }],
		metadata: {
			owner: "ops",
			studio: {
				layout: {
					greeting: { x: 0, y: 0 },
					triage: { x: 360, y: 0 },
					lookup: { x: 360, y: 200 },
					farewell: { x: 720, y: 0 },
				},
			},
		},
	};
}
