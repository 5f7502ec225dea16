/** One-click repairs that a check offers: the name of a command and its arguments, as the server sends them. */
import { changeStageId, connect, setInitialStage, updateStage } from "./commands";
import type { Playbook, Stage } from "./types";

export interface Fix {
	readonly command: string;
	readonly label: string;
	readonly args: Readonly<Record<string, unknown>>;
}

type Repair = (playbook: Playbook, args: Fix["args"]) => Playbook;

const text = (value: unknown): string => (typeof value === "string" ? value : "");

const REPAIRS: Readonly<Record<string, Repair>> = {
	connect: (playbook, { from, target }) => connect(playbook, text(from), text(target)),
	updateStage: (playbook, { id, changes }) => updateStage(playbook, text(id), changes as Partial<Stage>),
	setInitialStage: (playbook, { id }) => setInitialStage(playbook, text(id)),
	changeStageId: (playbook, { id, wanted }) => changeStageId(playbook, text(id), text(wanted)),
};

/** False for a repair that a newer server knows and this page does not. */
export function canFix(fix: Fix): boolean {
	return Object.hasOwn(REPAIRS, fix.command);
}

export function applyFix(playbook: Playbook, fix: Fix): Playbook {
	return canFix(fix) ? (REPAIRS[fix.command]?.(playbook, fix.args) ?? playbook) : playbook;
}
