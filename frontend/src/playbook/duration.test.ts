import { expect, it } from "vitest";
import { duration, parseDuration } from "./duration";

it("writes a time in the unit that fits, and never rounds it", () => {
	const times = [30, 500, 1000, 20_000, 90_000, 300_000, 7_200_000, 12_345];
	expect(times.map(duration)).toEqual([
		"30 ms",
		"500 ms",
		"1 s",
		"20 s",
		"1.5 min",
		"5 min",
		"2 h",
		"12345 ms",
	]);
});

it("reads what it writes, and the spellings people use; a bare number is seconds", () => {
	for (const time of [30, 500, 20_000, 90_000, 12_345]) expect(parseDuration(duration(time))).toBe(time);
	expect(["30", "30s", " 5 MIN ", "1,5 h", "250ms"].map(parseDuration)).toEqual([
		30_000, 30_000, 300_000, 5_400_000, 250,
	]);
	expect(["", "soon", "5 weeks", "-3 s"].map(parseDuration)).toEqual([null, null, null, null]);
});
