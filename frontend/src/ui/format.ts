/** Numbers as people read them, everywhere the same: grouped, with units, money with the digits that matter. */

const GROUPED = new Intl.NumberFormat("en-US");
const COMPACT = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 1 });

/** 11,144 */
export function grouped(value: number): string {
	return GROUPED.format(Math.round(value));
}

/** 200k, 1M */
export function compact(value: number): string {
	return COMPACT.format(value).replace("K", "k");
}

/** 120 ms, 0.9 s, 12 s, 2 min 5 s */
export function elapsed(milliseconds: number): string {
	if (milliseconds < 200) return `${Math.round(milliseconds)} ms`;
	const seconds = milliseconds / 1000;
	if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
	if (seconds < 59.5) return `${Math.round(seconds)} s`;
	const whole = Math.round(seconds);
	return `${Math.floor(whole / 60)} min ${whole % 60} s`;
}

/** $0.0041, $1.25: two digits that mean something, never a plain $0.00 for what was not free. */
export function dollars(value: number): string {
	if (value === 0) return "$0";
	if (value >= 0.1) return `$${value.toFixed(2)}`;
	const digits = Math.min(8, 1 - Math.floor(Math.log10(value)));
	return `$${value.toFixed(digits)}`;
}

/** 87 %, 5.6 %, < 0.1 % */
export function percent(part: number, whole: number): string {
	if (whole <= 0) return "0 %";
	const value = (part / whole) * 100;
	if (value > 0 && value < 0.1) return "< 0.1 %";
	return value < 10 && value % 1 !== 0 ? `${value.toFixed(1)} %` : `${Math.round(value)} %`;
}

/** 1 turn, 2 turns */
export function plural(count: number, one: string, many = `${one}s`): string {
	return `${grouped(count)} ${count === 1 ? one : many}`;
}
