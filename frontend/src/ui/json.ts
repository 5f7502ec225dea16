/** JSON as text: reading it with the place of an error, writing it for people. */
export interface JsonProblem {
	readonly message: string;
	/** Both count from 1. */
	readonly line: number;
	readonly column: number;
	/** Characters before it. */
	readonly offset: number;
}
export type Parsed =
	| { readonly ok: true; readonly value: unknown }
	| { readonly ok: false; readonly problem: JsonProblem };

const POSITION = /at position (\d+)/;
const LINE_COLUMN = /line (\d+) column (\d+)/;

function offsetOf(message: string, text: string): number {
	const position = POSITION.exec(message)?.[1];
	if (position) return Number(position);
	const place = LINE_COLUMN.exec(message);
	if (!place) return text.length;
	const before = text.split("\n").slice(0, Number(place[1]) - 1);
	return before.reduce((sum, line) => sum + line.length + 1, 0) + Number(place[2]) - 1;
}

/** The engines' own words, without the position that is said apart. */
function wordsOf(message: string): string {
	return message
		.replace(/^JSON\.parse: /, "")
		.replace(/,? (in JSON )?at (position \d+|line \d+ column \d+ of the JSON data).*$/, "")
		.replace(/, ("|\.\.\.").* is not valid JSON$/s, "");
}

/** An empty text is `undefined`: the field is not set. */
export function parseJson(text: string): Parsed {
	if (text.trim() === "") return { ok: true, value: undefined };
	try {
		return { ok: true, value: JSON.parse(text) as unknown };
	} catch (error) {
		const message = error instanceof Error ? error.message : String(error);
		const offset = Math.min(offsetOf(message, text), text.length);
		const before = text.slice(0, offset).split("\n");
		const column = (before.at(-1)?.length ?? 0) + 1;
		return { ok: false, problem: { message: wordsOf(message), line: before.length, column, offset } };
	}
}

export function formatJson(value: unknown): string {
	return value === undefined || value === null ? "" : JSON.stringify(value, null, 2);
}
