/** Whether two JSON values say the same, whatever the order of their fields. */
export function sameJson(left: unknown, right: unknown): boolean {
	return canonical(left) === canonical(right);
}

function canonical(value: unknown): string {
	return JSON.stringify(value, (_key, part: unknown) => {
		if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
		return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
	});
}
