/** Words of the chat for what the session knows by id. */
import type { Activity, CallFacts } from "../api/liveState";
import { referred } from "../api/reference";
import type { MoveItem, ToolItem } from "../api/timeline";
import { conditionSentence, endTitle } from "../playbook/labels";
import type { Playbook } from "../playbook/types";
import { dollars, elapsed, grouped, percent } from "../ui/format";

export const REHEARSAL = "rehearsal (no model)";

export function modelName(provider: string, model: string): string {
	return provider === "rehearsal" ? REHEARSAL : model;
}

/** What a session is tried with, without its connection: a model's id may have slashes of its own. */
export function usingName(using: string): string {
	return using === "rehearsal" ? REHEARSAL : using.slice(using.indexOf("/") + 1) || using;
}

/** "lookup_customer succeeded", else the reason the engine gave. */
export function moveReason(playbook: Playbook, move: MoveItem): string {
	const rule = playbook.transitions?.find((one) => one.id === move.transition);
	if (!rule) return move.reason;
	const sentence = conditionSentence(rule.condition);
	return rule.condition.type === "llm_decision" && move.reason ? `${sentence}: ${move.reason}` : sentence;
}

/** "draft@12" in words. */
export function versionWords(version: string): string {
	const revision = /^draft@(\d+)$/.exec(version)?.[1];
	if (revision) return `draft ${revision}`;
	return version ? `version ${version}` : "";
}

/** "→ Triage", "⤵ calls Look up order", "⤴ returns to Triage" */
export function moveTarget(playbook: Playbook, move: MoveItem): string {
	const target = endTitle(playbook, move.to);
	if (move.mode === "return") return `⤴ back to ${target}`;
	return move.mode === "call" ? `⤵ calls ${target}` : `→ ${target}`;
}

function costWords(facts: CallFacts): string {
	if (facts.provider === "rehearsal") return "no cost (rehearsal)";
	return facts.cost === null ? "cost unknown" : dollars(facts.cost);
}

/** "call 6 · 0.9 s to first word · 11,144 in (87 % cached) · 31 out · $0.0041" */
export function callLine(facts: CallFacts): string {
	const simulated = facts.provider === "rehearsal" ? ", simulated" : "";
	const parts = [`call ${facts.call}`];
	if (facts.firstTokenMs !== null) parts.push(`${elapsed(facts.firstTokenMs)} to first word`);
	if (facts.counted) {
		parts.push(`${grouped(facts.input)} in (${percent(facts.read, facts.input)} cached${simulated})`);
		parts.push(`${grouped(facts.output)} out`);
	} else if (facts.status !== "running") parts.push("tokens not reported");
	if (facts.status !== "running") parts.push(costWords(facts));
	return parts.join(" · ");
}

export function toolStatus(tool: ToolItem): string {
	switch (tool.status) {
		case "running":
			return "running";
		case "ok":
			return `${elapsed(tool.durationMs)} · ok`;
		case "error":
			return `${elapsed(tool.durationMs)} · error`;
		case "abandoned":
			return "not finished";
	}
}

/** "tools running · lookup_customer", "streaming · phase 2" */
export function activityWords(activity: Activity, tools: readonly string[]): string {
	if (activity.doing === "tools") return `tools running · ${tools.join(", ")}`;
	const phase = activity.phase === 0 ? "" : ` · phase ${activity.phase}`;
	return (activity.doing === "streaming" ? "streaming" : "waiting for the model") + phase;
}

/** JSON on one line, for a glance; of what became an artifact, its name. */
export function oneLine(value: unknown): string {
	if (value === undefined || value === null) return "";
	const artifact = referred(value);
	if (artifact !== null) return `artifact ${artifact}`;
	return typeof value === "string" ? value : JSON.stringify(value);
}

/** JSON to be read. */
export function pretty(value: unknown): string {
	return typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
}
