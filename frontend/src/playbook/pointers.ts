/** JSON pointers (RFC 6901) into a document. */

export type Json = Record<string, unknown>;

/** What changes a holder: an object, or a list as an object of its places. */
type Change = (holder: Json, key: string) => Json;

function partsOf(pointer: string): string[] {
	return pointer
		.split("/")
		.slice(1)
		.map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function inner(value: unknown, part: string): unknown {
	if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
	return (value as Json)[part];
}

export function valueAt(document: unknown, pointer: string): unknown {
	return partsOf(pointer).reduce(inner, document);
}

/** The document with the holder of that place changed; itself where the place is in nothing. */
export function changedAt(document: unknown, pointer: string, change: Change): unknown {
	const parts = partsOf(pointer);
	const holder = parts.slice(0, -1).reduce(inner, document);
	if (parts.length === 0 || typeof holder !== "object" || holder === null) return document;
	return changed(document, parts, change);
}

function changed(value: unknown, [part = "", ...rest]: string[], change: Change): unknown {
	const holder = value as Json;
	if (Array.isArray(value)) {
		if (!Object.hasOwn(value, part)) return value;
		const entries = { ...value } as unknown as Json;
		const after = rest.length === 0 ? change(entries, part) : withInner(entries, part, rest, change);
		return Object.values(after);
	}
	return rest.length === 0 ? change(holder, part) : withInner(holder, part, rest, change);
}

function withInner(holder: Json, part: string, rest: string[], change: Change): Json {
	return { ...holder, [part]: changed(holder[part], rest, change) };
}
