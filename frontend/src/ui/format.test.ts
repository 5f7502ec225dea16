import { expect, test } from "vitest";
import { dollars, elapsed, percent, plural } from "./format";

test("small sums keep the digits that matter", () => {
	expect([0.0041, 0.00041, 0.0237, 0.1, 1.256, 0].map(dollars)).toEqual([
		"$0.0041",
		"$0.00041",
		"$0.024",
		"$0.10",
		"$1.26",
		"$0",
	]);
});

test("times change their unit where a person would", () => {
	expect([12, 199, 900, 9960, 61_000].map(elapsed)).toEqual([
		"12 ms",
		"199 ms",
		"0.9 s",
		"10 s",
		"1 min 1 s",
	]);
});

test("a share that is not nothing is never shown as nothing", () => {
	expect([percent(1, 10_000), percent(56, 1000), percent(87, 100), percent(0, 0)]).toEqual([
		"< 0.1 %",
		"5.6 %",
		"87 %",
		"0 %",
	]);
});

test("one is singular", () => {
	expect([plural(1, "turn"), plural(1200, "turn")]).toEqual(["1 turn", "1,200 turns"]);
});
