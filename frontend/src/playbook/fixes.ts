/**
 * One-click repairs that a check offers: the name of a command and its arguments, as the server sends them. The
 * commands are those of `builder/validation/fixes.py`; both are held to the cases in `fixes.cases.json`.
 */
import { changeStageId, connect, setInitialStage, updateStage, updateTransition } from "./commands";
import { changedAt, type Json, valueAt } from "./pointers";
import { sameJson } from "./same";
import type { Playbook, Stage, ToolDefinition, Transition } from "./types";

export interface Fix {
	readonly command: string;
	readonly label: string;
	readonly args: Readonly<Record<string, unknown>>;
}

type Args = Fix["args"];
type Repair = (playbook: Playbook, args: Args) => Playbook;

const text = (value: unknown): string => (typeof value === "string" ? value : "");

/** `null` takes a field away: JSON has no `undefined`. */
function changesOf<T>({ changes }: Args): Partial<T> {
	const given = Object.entries((changes ?? {}) as Record<string, unknown>);
	return Object.fromEntries(given.map(([name, value]) => [name, value ?? undefined])) as Partial<T>;
}

function renameTool(playbook: Playbook, name: string, wanted: string): Playbook {
	const renamed = (found: string) => (found === name ? wanted : found);
	const tools = (list: readonly ToolDefinition[]) =>
		list.map((tool) => ({ ...tool, name: renamed(tool.name) }));
	const actions = (list: NonNullable<Stage["onEnter"]>) =>
		list.map((action) => ("call" in action ? { ...action, call: renamed(action.call) } : action));
	const stage = ({ tools: own, toolChoice, onEnter, onExit, ...rest }: Stage): Stage => ({
		...rest,
		...(own && { tools: tools(own) }),
		...(toolChoice && {
			toolChoice:
				typeof toolChoice === "object" ? { ...toolChoice, name: renamed(toolChoice.name) } : toolChoice,
		}),
		...(onEnter && { onEnter: actions(onEnter) }),
		...(onExit && { onExit: actions(onExit) }),
	});
	const rule = (transition: Transition): Transition =>
		transition.condition?.type === "tool_call"
			? {
					...transition,
					condition: { ...transition.condition, toolName: renamed(transition.condition.toolName) },
				}
			: transition;
	return {
		...playbook,
		...(playbook.globalTools && { globalTools: tools(playbook.globalTools) }),
		stages: playbook.stages.map(stage),
		...(playbook.transitions && { transitions: playbook.transitions.map(rule) }),
	};
}

function declareVariable(playbook: Playbook, name: string): Playbook {
	const variables = playbook.variables ?? [];
	if (variables.some((variable) => variable.name === name)) return playbook;
	return { ...playbook, variables: [...variables, { name }] };
}

/** Whether that stood there; of an object only the fields that are asked for are looked at. */
function fits(value: unknown, was: unknown): boolean {
	const isObject = typeof was === "object" && was !== null && !Array.isArray(was);
	if (!isObject) return sameJson(value ?? null, was ?? null);
	if (typeof value !== "object" || value === null) return false;
	return Object.entries(was).every(([name, part]) => sameJson((value as Json)[name], part));
}

/** Does `change` at the pointer if what stands there is what the check saw. */
function at(playbook: Playbook, { path, was }: Args, change: Parameters<typeof changedAt>[2]): Playbook {
	const place = text(path);
	if (!fits(valueAt(playbook, place), was)) return playbook;
	return changedAt(playbook, place, change) as Playbook;
}

const REPAIRS: Readonly<Record<string, Repair>> = {
	connect: (playbook, { from, target }) => connect(playbook, text(from), text(target)),
	setInitialStage: (playbook, { id }) => setInitialStage(playbook, text(id)),
	changeStageId: (playbook, { id, wanted }) => changeStageId(playbook, text(id), text(wanted)),
	updateStage: (playbook, args) => updateStage(playbook, text(args.id), changesOf<Stage>(args)),
	updateTransition: (playbook, args) =>
		updateTransition(playbook, text(args.id), changesOf<Transition>(args)),
	removeTransition: (playbook, { id }) => ({
		...playbook,
		transitions: (playbook.transitions ?? []).filter((transition) => transition.id !== id),
	}),
	renameTool: (playbook, { name, wanted }) => renameTool(playbook, text(name), text(wanted)),
	declareVariable: (playbook, { name }) => declareVariable(playbook, text(name)),
	replaceAt: (playbook, args) => at(playbook, args, (holder, key) => ({ ...holder, [key]: args.value })),
	removeAt: (playbook, args) =>
		at(playbook, args, (holder, key) =>
			Object.fromEntries(Object.entries(holder).filter(([name]) => name !== key)),
		),
	renameAt: (playbook, { path, wanted }) =>
		changedAt(playbook, text(path), (holder, key) =>
			!Object.hasOwn(holder, key) || Object.hasOwn(holder, text(wanted))
				? holder
				: Object.fromEntries(
						Object.entries(holder).map(([name, value]) => [name === key ? text(wanted) : name, value]),
					),
		) as Playbook,
};

/** False for a repair that a newer server knows and this page does not. */
export function canFix(fix: Fix): boolean {
	return Object.hasOwn(REPAIRS, fix.command);
}

export function applyFix(playbook: Playbook, fix: Fix): Playbook {
	return canFix(fix) ? (REPAIRS[fix.command]?.(playbook, fix.args) ?? playbook) : playbook;
}
