/** What stands in an event where a long value would: a reference to the artifact that it became. */

/** The name that a value refers to, where it is a reference. */
export function referred(value: unknown): string | null {
	if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
	const entries = Object.entries(value);
	const [key, name] = entries[0] ?? [];
	return entries.length === 1 && key === "$artifact" && typeof name === "string" ? name : null;
}
