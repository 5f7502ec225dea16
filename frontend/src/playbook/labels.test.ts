import { expect, it } from "vitest";
import { conditionSentence, edgeSentence, transitionSentence, transitionTitle } from "./labels";
import { sample } from "./sample.testdata";
import type { Condition } from "./types";

it.each<[Condition, string]>([
	[{ type: "llm_decision" }, "model decides"],
	[{ type: "tool_call", toolName: "lookup_customer", outcome: "success" }, "lookup_customer succeeded"],
	[{ type: "tool_call", toolName: "pay", outcome: "error" }, "pay failed"],
	[{ type: "tool_call", toolName: "pay", where: "result.ok" }, "pay called and result.ok"],
	[{ type: "keyword", keywords: ["refund"], source: "any" }, "says ‘refund’"],
	[{ type: "keyword", keywords: ["thanks", "bye"], source: "user" }, "user says ‘thanks’, ‘bye’"],
	[{ type: "keyword", keywords: ["ord"], match: "substring" }, "assistant says ‘…ord…’"],
	[{ type: "keyword", keywords: ["a|b"], match: "regex", source: "any" }, "matches /a|b/"],
	[{ type: "keyword", keywords: [] }, "no keyword yet"],
	[{ type: "intent", intent: "cancel" }, "intent ‘cancel’ ≥ 0.6"],
	[{ type: "max_turns", count: 5 }, "after 5 turns"],
	[{ type: "max_turns", count: 1 }, "after 1 turn"],
	[{ type: "timeout", durationMs: 20_000, since: "last_activity" }, "20 s of silence"],
	[{ type: "timeout", durationMs: 90_000 }, "after 1.5 min in the stage"],
	[{ type: "custom", expression: "vars.total > 100" }, "vars.total > 100"],
	[{ type: "custom", expression: "true", when: "before" }, "before the reply: true"],
])("says %j as a sentence", (condition, sentence) => {
	expect(conditionSentence(condition)).toBe(sentence);
});

it("says how the transition goes, and that it is off", () => {
	const action = { targetStage: "lookup", mode: "call" } as const;
	const transition = { id: "x", from: "triage", condition: { type: "llm_decision" }, action } as const;
	expect(transitionSentence(transition)).toBe("calls · model decides");
	expect(transitionSentence({ ...transition, disabled: true })).toBe("off · calls · model decides");
	expect(transitionTitle(sample(), transition)).toBe("Triage → Look up order: calls · model decides");
});

it("names two keywords on an edge and counts the rest", () => {
	const condition: Condition = { type: "keyword", keywords: ["a", "b", "c", "d"], source: "user" };
	const transition = { id: "x", from: "triage", condition, action: { targetStage: "farewell" } };
	expect(edgeSentence(transition)).toBe("user says ‘a’, ‘b’ +2");
	expect(transitionSentence(transition)).toBe("user says ‘a’, ‘b’, ‘c’, ‘d’");
});
