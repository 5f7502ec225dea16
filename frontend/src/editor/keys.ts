/** Keys: which action a key press means, and how its keys are written on this machine. */
import { ACTIONS, type Action } from "./actions";

export const isMac = (): boolean => /Mac|iPhone|iPad/.test(navigator.platform);

const NAMES: Record<string, string> = {
	ArrowLeft: "←",
	ArrowRight: "→",
	ArrowUp: "↑",
	ArrowDown: "↓",
	Escape: "Esc",
	Delete: "Del",
};
const MAC_NAMES: Record<string, string> = { Mod: "⌘", Shift: "⇧", Backspace: "⌫", Delete: "⌦", Enter: "⏎" };

/** "Ctrl+Shift+Z", or "⌘⇧Z" on a Mac. */
export function keyName(keys: string, mac = isMac()): string {
	const parts = keys === "+" ? ["+"] : keys.split("+");
	const names = parts.map(
		(part) => (mac && MAC_NAMES[part]) || NAMES[part] || (part === "Mod" ? "Ctrl" : part),
	);
	return names.join(mac ? "" : "+");
}

export type KeyPress = Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "shiftKey" | "altKey" | "code">;

/** A letter or digit by its place where Shift changes it, otherwise the key itself. */
function keyOf({ key, code }: KeyPress): string {
	if (/^Digit\d$/.test(code) && !/^[?+=-]$/.test(key)) return code.slice(5);
	return key.length === 1 ? key.toUpperCase() : key;
}

function matches(press: KeyPress, keys: string, mac: boolean): boolean {
	const parts = keys === "+" ? ["+"] : keys.split("+");
	const key = parts.at(-1);
	const mod = mac ? press.metaKey : press.ctrlKey;
	const other = mac ? press.ctrlKey : press.metaKey;
	if (press.altKey || other || mod !== parts.includes("Mod") || keyOf(press) !== key) return false;
	const sign = key.length === 1 && !/[A-Z0-9]/.test(key);
	return sign || press.shiftKey === parts.includes("Shift");
}

export function actionFor(press: KeyPress, typing: boolean, mac = isMac()): Action | undefined {
	return ACTIONS.find(
		({ keys, whileTyping }) => (!typing || whileTyping) && keys.some((wanted) => matches(press, wanted, mac)),
	);
}
