/** Times as people write them: "20 s", "1.5 min", "2 h", "500 ms". */
const UNITS = [
	["h", 3_600_000],
	["min", 60_000],
	["s", 1000],
	["ms", 1],
] as const;

const SPELLINGS: Readonly<Record<string, number>> = {
	ms: 1,
	"": 1000,
	s: 1000,
	sec: 1000,
	seconds: 1000,
	m: 60_000,
	min: 60_000,
	minutes: 60_000,
	h: 3_600_000,
	hours: 3_600_000,
};

/** 20 s, 1.5 min, 2 h; in the largest unit that says it with at most one decimal, exactly. */
export function duration(milliseconds: number): string {
	const exact = UNITS.find(
		([, size]) => milliseconds >= size && Number.isInteger((milliseconds / size) * 10),
	);
	const [name, size] = exact ?? ["ms", 1];
	return `${milliseconds / size} ${name}`;
}

/** Milliseconds; a bare number means seconds. Null if the text is no time. */
export function parseDuration(text: string): number | null {
	const found = /^\s*(\d+(?:[.,]\d+)?)\s*([a-z]*)\s*$/i.exec(text);
	const size = SPELLINGS[found?.[2]?.toLowerCase() ?? "none"];
	if (!found?.[1] || size === undefined) return null;
	return Math.round(Number(found[1].replace(",", ".")) * size);
}
