/** What a field takes: null if the value will do, else why not, in words. The forms are those of the format. */
export function isObject(value: unknown): string | null {
	if (value === undefined) return null;
	return typeof value === "object" && value !== null && !Array.isArray(value)
		? null
		: "An object is needed: { … }.";
}

const TOOL_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const PLAYBOOK_ID = /^[A-Za-z0-9_.-]{1,64}$/;

export function refuseToolName(text: string): string | null {
	return TOOL_NAME.test(text) ? null : "A tool's name has 1 to 64 letters (a–z), digits, _ or -.";
}

export function refusePlaybookId(text: string): string | null {
	return PLAYBOOK_ID.test(text) ? null : "An id has 1 to 64 letters (a–z), digits, _, . or -.";
}

export function refuseEmpty(text: string): string | null {
	return text.trim() === "" ? "A name is needed." : null;
}
