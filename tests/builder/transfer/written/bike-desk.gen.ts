/**
 * Bike rental desk, for LLMRTC. Made by Playbook Studio: change the playbook there and export it
 * again. Tools are functions of your program: register them in a ToolRegistry.
 */
import type { Playbook, PlaybookOrchestratorOptions, StageContext, ToolDefinition, TransitionContext } from "@llmrtc/llmrtc-core";

const schema = (value: unknown) => value as ToolDefinition["parameters"];

// How CEL behaves: a missing field, a wrong type and a division by zero are errors; `&&` and `||` look past an
// error if the other side decides; a rule whose expression fails, or is not true, does not fire.

type Fields = Record<string, unknown>;
type Later = () => unknown;

function fail(reason: string): never {
	throw new Error(reason);
}

function isFields(value: unknown): value is Fields {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function get(value: unknown, name: string): unknown {
	return isFields(value) && Object.hasOwn(value, name) ? value[name] : fail(`There is no ${name}.`);
}

function has(value: unknown, name: string): boolean {
	return isFields(value) ? Object.hasOwn(value, name) : fail(`Only objects have a ${name}.`);
}

function at(value: unknown, index: unknown): unknown {
	if (!Array.isArray(value)) return get(value, String(index));
	const isPlace = typeof index === "number" && Number.isInteger(index) && index >= 0 && index < value.length;
	return isPlace ? value[index] : fail(`There is no item ${String(index)}.`);
}

function truth(value: unknown): boolean {
	return typeof value === "boolean" ? value : fail("true or false was expected.");
}

function settled(later: Later): { value: unknown; failed: boolean } {
	try {
		return { value: later(), failed: false };
	} catch (error) {
		return { value: error, failed: true };
	}
}

function decide(one: Later, other: Later, deciding: boolean): boolean {
	const [first, second] = [settled(one), settled(other)];
	if (first.value === deciding || second.value === deciding) return deciding;
	if (first.failed) throw first.value;
	if (second.failed) throw second.value;
	truth(first.value);
	return truth(second.value);
}

const and = (one: Later, other: Later) => decide(one, other, false);
const or = (one: Later, other: Later) => decide(one, other, true);
const not = (value: unknown) => !truth(value);
const choose = (test: unknown, one: Later, other: Later) => (truth(test) ? one() : other());
const notFalse = (later: Later) => settled(later).value !== false;

function same(one: unknown, other: unknown): boolean {
	if (Array.isArray(one) && Array.isArray(other)) {
		return one.length === other.length && one.every((item, index) => same(item, other[index]));
	}
	if (isFields(one) && isFields(other)) {
		const names = Object.keys(one);
		const asMany = names.length === Object.keys(other).length;
		return asMany && names.every((name) => Object.hasOwn(other, name) && same(one[name], other[name]));
	}
	return one === other;
}

const differ = (one: unknown, other: unknown) => !same(one, other);

function order(one: unknown, other: unknown): number {
	if (typeof one === "number" && typeof other === "number") return one - other;
	if (typeof one === "boolean" && typeof other === "boolean") return Number(one) - Number(other);
	if (typeof one !== "string" || typeof other !== "string") return fail("These values have no order.");
	const [left, right] = [[...one], [...other]];
	for (let place = 0; place < Math.min(left.length, right.length); place++) {
		const difference = (left[place]?.codePointAt(0) ?? 0) - (right[place]?.codePointAt(0) ?? 0);
		if (difference !== 0) return difference;
	}
	return left.length - right.length;
}

const less = (one: unknown, other: unknown) => order(one, other) < 0;
const atMost = (one: unknown, other: unknown) => order(one, other) <= 0;
const more = (one: unknown, other: unknown) => order(one, other) > 0;
const atLeast = (one: unknown, other: unknown) => order(one, other) >= 0;

function number(value: unknown): number {
	return typeof value === "number" ? value : fail("A number was expected.");
}

function text(value: unknown): string {
	return typeof value === "string" ? value : fail("A text was expected.");
}

function add(one: unknown, other: unknown): unknown {
	if (Array.isArray(one) && Array.isArray(other)) return [...one, ...other];
	return typeof one === "string" ? one + text(other) : number(one) + number(other);
}

const subtract = (one: unknown, other: unknown) => number(one) - number(other);
const multiply = (one: unknown, other: unknown) => number(one) * number(other);
const negate = (value: unknown) => -number(value);

/** Whole numbers are divided as whole numbers; JavaScript cannot tell 3.0 from 3. */
function divide(one: unknown, other: unknown): number {
	const [top, bottom] = [number(one), number(other)];
	if (!Number.isInteger(top) || !Number.isInteger(bottom)) return top / bottom;
	return bottom === 0 ? fail("A division by zero.") : Math.trunc(top / bottom);
}

function remainder(one: unknown, other: unknown): number {
	return number(other) === 0 ? fail("A division by zero.") : number(one) % number(other);
}

function inside(item: unknown, value: unknown): boolean {
	return Array.isArray(value) ? value.some((other) => same(item, other)) : has(value, String(item));
}

function size(value: unknown): number {
	if (Array.isArray(value)) return value.length;
	return isFields(value) ? Object.keys(value).length : [...text(value)].length;
}

const startsWith = (value: unknown, part: unknown) => text(value).startsWith(text(part));
const endsWith = (value: unknown, part: unknown) => text(value).endsWith(text(part));
const contains = (value: unknown, part: unknown) => text(value).includes(text(part));
const map = (entries: [unknown, unknown][]) =>
	Object.fromEntries(entries.map(([name, value]) => [String(name), value]));

function double(value: unknown): number {
	const result = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
	return Number.isNaN(result) ? fail("This is no number.") : number(result);
}

const int = (value: unknown) => Math.trunc(double(value));

function string(value: unknown): string {
	return typeof value === "object" || value === undefined ? fail("This is no text.") : String(value);
}

/** What `exists`, `all`, `map` and `filter` are. A step that fails may be overruled by a later one. */
function fold(
	items: unknown,
	start: Later,
	goesOn: (item: unknown, total: Later) => unknown,
	step: (item: unknown, total: Later) => unknown,
	result: (total: Later) => unknown,
): unknown {
	let total = start;
	const list = Array.isArray(items) ? items : isFields(items) ? Object.keys(items) : fail("This is no list.");
	for (const item of list) {
		const before = total;
		if (!truth(goesOn(item, before))) break;
		const after = settled(() => step(item, before));
		total = () => {
			if (after.failed) throw after.value;
			return after.value;
		};
	}
	return result(total);
}

/** Variables are kept in LLMRTC's conversationContext; these are their first values. */
const VARIABLES: Fields = {
	rider: "Ada",
};

const STAGE_NAMES: Record<string, string> = {
	greet: "Greeting",
	pick: "Pick a bike",
	route: "Route",
	close: "Goodbye",
};

interface Roots {
	vars: Fields;
	data: unknown;
	turn: Fields;
	stage: Fields;
}

function roots(context: TransitionContext | StageContext): Roots {
	const { conversationContext } = context;
	const vars = { ...VARIABLES, ...conversationContext };
	if ("stage" in context) {
		const { id, name } = context.stage;
		return { vars, data: context.transitionData ?? {}, turn: {}, stage: { id, name } };
	}
	const { currentStage: id, turnCount, lastAssistantMessage, lastToolCalls } = context;
	const turn = { count: turnCount, assistantMessage: lastAssistantMessage ?? "", toolCalls: lastToolCalls ?? [] };
	const stage = { id, name: STAGE_NAMES[id] ?? id, turnCount };
	return { vars, data: conversationContext.transitionData ?? {}, turn, stage };
}

function holds(context: TransitionContext, expression: (r: Roots) => unknown): boolean {
	return settled(() => expression(roots(context))).value === true;
}

/** An expression that fails sets nothing. */
function assign(context: StageContext, variable: string, expression: (r: Roots) => unknown): void {
	const { value, failed } = settled(() => expression(roots(context)));
	if (!failed) context.conversationContext[variable] = value;
}

export const playbook: Playbook = {
	id: "bike-desk",
	name: "Bike rental desk",
	description: "A file of format 1 with every kind of part, kept as it was written.",
	version: "3",
	stages: [
		{
			id: "greet",
			name: "Greeting",
			description: "The rider has just come in.",
			systemPrompt: "Welcome {$rider}.\nAsk what they need.",
			twoPhaseExecution: false,
			onEnter: (context) => {
				assign(context, "tries", (r) => 0);
			},
		},
		{
			id: "pick",
			name: "Pick a bike",
			systemPrompt: "Help {$rider} choose.",
			tools: [
				{
					name: "stock",
					description: "How many bikes of one kind are free",
					parameters: schema({"type": "object", "properties": {"kind": {"type": "string"}}, "required": ["kind"]}),
					executionPolicy: "sequential",
				},
				{
					name: "book",
					description: "Reserves a bike",
					parameters: schema({"type": "object", "properties": {}}),
				},
			],
			toolChoice: {
				name: "stock",
			},
			maxTurns: 9,
			timeoutMs: 600000,
			onExit: () => {},
		},
		{
			id: "route",
			name: "Route",
			systemPrompt: "Which tour fits {$rider}?",
		},
		{
			id: "close",
			name: "Goodbye",
			systemPrompt: "Thank the rider.",
		},
	],
	transitions: [
		{
			id: "t-pick",
			description: "They want a bike.",
			from: "greet",
			condition: {
				type: "llm_decision",
			},
			action: {
				targetStage: "pick",
				data: {
					why: "asked",
				},
			},
		},
		{
			id: "t-intent",
			from: "greet",
			condition: {
				type: "intent",
				intent: "leave",
				confidence: 0.7,
			},
			action: {
				targetStage: "close",
			},
			priority: 5,
		},
		{
			id: "t-booked",
			from: "pick",
			condition: {
				type: "tool_call",
				toolName: "book",
			},
			action: {
				targetStage: "close",
				transitionMessage: "Booked for {$rider}.",
				clearHistory: true,
			},
		},
		{
			id: "t-turns",
			description: "Long enough.",
			from: "pick",
			condition: {
				type: "max_turns",
				count: 6,
			},
			action: {
				targetStage: "close",
			},
		},
		{
			id: "t-quiet",
			from: "pick",
			condition: {
				type: "timeout",
				durationMs: 60000,
			},
			action: {
				targetStage: "close",
			},
		},
		{
			id: "t-tries",
			from: "pick",
			condition: {
				type: "custom",
				evaluate: (context) => holds(context, (r) => more(get(r.vars, "tries"), 2)),
			},
			action: {
				targetStage: "route",
			},
		},
	],
	initialStage: "greet",
	globalTools: [
		{
			name: "opening_hours",
			description: "When the desk is open",
			parameters: schema({"type": "object", "properties": {}}),
		},
	],
	globalSystemPrompt: "You work at a bike rental desk.",
	defaultLLMConfig: {
		model: "rehearsal",
		temperature: 0.2,
		maxTokens: 400,
	},
	metadata: {
		team: "north",
		studio: {
			layout: {
				greet: {
					x: 0,
					y: 0,
				},
				pick: {
					x: 400,
					y: 0,
				},
			},
		},
	},
};

/** For `new PlaybookOrchestrator(provider, playbook, tools, options)`. */
export const options: PlaybookOrchestratorOptions = {
	maxToolCallsPerTurn: 4,
};
