/**
 * A part of the document as a form sees it: its value, its problems, and two ways to change it. `typed` changes
 * that follow one another in one field are one step of undo, every `chosen` one is a step of its own. Changes are
 * applied to the document as it is then, never to what was on the screen, and keep every field they do not name.
 */
import { createElement, type ReactNode } from "react";
import { merged } from "../../playbook/commands";
import { type Diagnostic, problemsAt } from "../../playbook/problems";
import type { Playbook, Stage, Transition } from "../../playbook/types";
import type { Editor } from "../editor";
import { typing } from "../operations";

type How = "typed" | "chosen";
type Change<T> = (current: T) => T;
type Write<T> = (change: Change<T>, how: How, field: string) => void;

export interface Surroundings {
	readonly settle: () => void;
	readonly problems: readonly Diagnostic[];
}

export class Part<T extends object> {
	constructor(
		readonly value: T,
		/** JSON pointer of the part. */
		readonly pointer: string,
		private readonly around: Surroundings,
		private readonly write: Write<T>,
	) {}

	readonly settle = (): void => this.around.settle();

	typed(changes: Partial<T>): void {
		this.write((current) => merged(current, changes), "typed", Object.keys(changes).join());
	}

	chosen(changes: Partial<T>): void {
		this.write((current) => merged(current, changes), "chosen", Object.keys(changes).join());
	}

	replaced(value: T): void {
		this.write(() => value, "chosen", "");
	}

	/** What is wrong with a field, in words; a warning is marked, so that it does not look like an error. */
	error(field: string): ReactNode {
		const [problem] = this.problems(`/${field}`);
		if (!problem || problem.severity === "error") return problem?.message;
		return createElement("span", { "data-severity": "warning" }, problem.message);
	}

	problems(below = ""): Diagnostic[] {
		return problemsAt(this.around.problems, this.pointer, below);
	}

	/** A field that is an object of its own; it vanishes from the document when nothing is set in it. */
	object<K extends keyof T & string>(key: K): Part<NonNullable<T[K]> & object> {
		type Inner = NonNullable<T[K]> & object;
		return new Part<Inner>(
			(this.value[key] ?? {}) as Inner,
			`${this.pointer}/${key}`,
			this.around,
			(change, how, field) =>
				this.write(
					(current) => withObject(current, key, change((current[key] ?? {}) as Inner)),
					how,
					`${key}.${field}`,
				),
		);
	}

	/** The entries of a field that is a list of objects, each a part. */
	entries<K extends keyof T & string>(key: K): Part<EntryOf<T[K]>>[] {
		type Entry = EntryOf<T[K]>;
		const list = (this.value[key] ?? []) as readonly Entry[];
		return list.map(
			(value, index) =>
				new Part<Entry>(value, `${this.pointer}/${key}/${index}`, this.around, (change, how, field) =>
					this.write(
						(current) =>
							withEntries<T, Entry>(current, key, (entries) =>
								entries.map((entry, at) => (at === index ? change(entry) : entry)),
							),
						how,
						`${key}.${index}.${field}`,
					),
				),
		);
	}

	append<K extends keyof T & string>(key: K, entry: EntryOf<T[K]>): void {
		this.write(
			(current) => withEntries<T, EntryOf<T[K]>>(current, key, (entries) => [...entries, entry]),
			"chosen",
			key,
		);
	}

	remove<K extends keyof T & string>(key: K, index: number): void {
		this.write(
			(current) =>
				withEntries<T, EntryOf<T[K]>>(current, key, (entries) =>
					entries.filter((_entry, at) => at !== index),
				),
			"chosen",
			key,
		);
	}
}

export type EntryOf<L> = NonNullable<L> extends readonly (infer E)[] ? E & object : never;

function withObject<T extends object>(current: T, key: keyof T, inner: object): T {
	const result = { ...current, [key]: inner };
	if (Object.keys(inner).length === 0) delete result[key];
	return result;
}

function withEntries<T extends object, E>(
	current: T,
	key: keyof T,
	change: (entries: readonly E[]) => E[],
): T {
	const entries = change((current[key] ?? []) as readonly E[]);
	const result = { ...current, [key]: entries };
	if (entries.length === 0) delete result[key];
	return result;
}

/** "systemPrompt" → "system prompt", "llmConfig.maxTokens" → "max tokens" */
function fieldWords(field: string): string {
	const last = field.split(".").at(-1) ?? "";
	return last.replace(/[A-Z]+/g, (letters) => ` ${letters.toLowerCase()}`).trim();
}

function rootPart<T extends object>(
	editor: Editor,
	kind: string,
	value: T,
	pointer: string,
	apply: (playbook: Playbook, change: Change<T>) => Playbook,
): Part<T> {
	const around = { settle: editor.history.settle, problems: editor.ui.getState().problems.all };
	return new Part(value, pointer, around, (change, how, field) => {
		const words = `Edit ${kind}${field ? `: ${fieldWords(field)}` : ""}`;
		const command = (playbook: Playbook) => apply(playbook, change);
		if (how === "typed") typing(editor, words, command, `${pointer} ${field}`);
		else editor.history.edit(words, command);
	});
}

function mapped<T extends { id: string }>(list: readonly T[], id: string, change: Change<T>): T[] {
	return list.map((entry) => (entry.id === id ? change(entry) : entry));
}

export function stagePart(editor: Editor, playbook: Playbook, stage: Stage): Part<Stage> {
	const pointer = `/stages/${playbook.stages.indexOf(stage)}`;
	return rootPart(editor, "stage", stage, pointer, (current, change) => ({
		...current,
		stages: mapped(current.stages, stage.id, change),
	}));
}

export function transitionPart(editor: Editor, playbook: Playbook, transition: Transition): Part<Transition> {
	const pointer = `/transitions/${playbook.transitions?.indexOf(transition) ?? -1}`;
	return rootPart(editor, "transition", transition, pointer, (current, change) => ({
		...current,
		transitions: mapped(current.transitions ?? [], transition.id, change),
	}));
}

export function playbookPart(editor: Editor, playbook: Playbook): Part<Playbook> {
	return rootPart(editor, "playbook", playbook, "", (current, change) => change(current));
}
