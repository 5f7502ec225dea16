/** What a JSON field takes: null if the value will do, else why not, in words. */
export function isObject(value: unknown): string | null {
	if (value === undefined) return null;
	return typeof value === "object" && value !== null && !Array.isArray(value)
		? null
		: "An object is needed: { … }.";
}
