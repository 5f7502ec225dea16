import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
	allChoices,
	askForModels,
	forgetChoices,
	loadChoices,
	modelChoices,
	onlyRehearsal,
} from "./connections";

const connection = (name: string, more: object = {}) => ({ name, usable: true, url: "http://h/v1", ...more });
const offered = (provider: string, id: string, available = true) => ({
	provider,
	id,
	label: id,
	available,
	note: "",
});

let answers: Record<string, () => unknown>;
let asked: string[];

beforeEach(() => {
	forgetChoices();
	asked = [];
	answers = {
		"/api/me": () => ({ models: [offered("rehearsal", "rehearsal"), offered("local", "qwen")] }),
		"/api/connections": () => ({
			connections: [connection("local"), connection("down"), connection("anthropic", { url: "" })],
		}),
		"/api/connections/local/models": () => ({ models: ["qwen", "org/other"], problem: "" }),
	};
	vi.stubGlobal("fetch", async (path: string) => {
		asked.push(path);
		const answer = answers[path];
		if (!answer) throw new TypeError("no network");
		return new Response(JSON.stringify(answer()));
	});
});
afterEach(() => vi.unstubAllGlobals());

test("servers at addresses of their own are asked once, and what they have is offered once", async () => {
	await loadChoices();
	askForModels();
	askForModels();
	await vi.waitFor(() => expect([...modelChoices.getState().lists.values()]).not.toContain(null));
	expect(asked.filter((path) => path.endsWith("/models"))).toEqual([
		"/api/connections/local/models",
		"/api/connections/down/models",
	]);
	expect(allChoices(modelChoices.getState()).map(({ id }) => id)).toEqual(["local/qwen", "local/org/other"]);
	expect(modelChoices.getState().lists.get("down")?.problem).not.toBe("");
});

test("what could not be loaded is asked for again", async () => {
	const { "/api/me": me } = answers;
	delete answers["/api/me"];
	await loadChoices();
	expect(modelChoices.getState().loaded).toBe(false);
	answers["/api/me"] = me as () => unknown;
	await loadChoices();
	expect(modelChoices.getState().loaded).toBe(true);
});

test("only once it is known that nothing can be used is it said so", async () => {
	answers["/api/connections"] = () => ({ connections: [connection("anthropic", { usable: false })] });
	expect(onlyRehearsal(modelChoices.getState())).toBe(false);
	await loadChoices();
	expect(onlyRehearsal(modelChoices.getState())).toBe(true);
});
