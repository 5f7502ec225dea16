import { MantineProvider } from "@mantine/core";
import { act, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { ApiError } from "../api/client";
import { forgetChoices } from "../api/connections";
import { callCompleted, callStarted, FakeLog, FakeSocket, plainTurn } from "../api/fakes";
import type { SessionEvent } from "../api/frames";
import { createLiveSession, type LiveSessionStore } from "../api/session";
import { connect } from "../api/socket";
import type { Playbook } from "../playbook/types";
import { ChatPanel } from "./ChatPanel";
import { rememberChat } from "./remember";

const PLAYBOOK: Playbook = {
	id: "p",
	name: "Desk",
	initialStage: "greet",
	stages: [
		{ id: "greet", name: "Greeting", systemPrompt: "Hi" },
		{ id: "triage", name: "Triage", systemPrompt: "Sort" },
	],
	transitions: [
		{
			id: "t1",
			from: "greet",
			condition: { type: "tool_call", toolName: "lookup", outcome: "success" },
			action: { targetStage: "triage" },
		},
	],
};

const NO_KEY = "claude-sonnet-5 needs a key: set ANTHROPIC_API_KEY and start again.";
const LOCAL = { name: "local", usable: true, url: "http://127.0.0.1:8080/v1", model: "qwen", note: "" };
/** What the server answers beside sessions, by address. */
const ANSWERS: Record<string, unknown> = {
	"/api/me": { models: [{ id: "qwen", provider: "local", label: "qwen", available: true, note: "" }] },
	"/api/connections": { connections: [LOCAL] },
	"/api/connections/local/models": { models: ["qwen", "org/other"], problem: "" },
	"/api/connections/resolve": {
		answers: "rehearsal",
		connection: "anthropic",
		model: "claude-sonnet-5",
		reason: NO_KEY,
		leftOut: [],
	},
};

let answer: () => unknown;
const requests: { method: string; path: string; body: unknown }[] = [];

function store(): LiveSessionStore {
	let ids = 0;
	return createLiveSession({
		request: (async (method: string, path: string, body: unknown) => {
			requests.push({ method, path, body });
			return path.endsWith("/calls") ? [] : answer();
		}) as never,
		connect: (options) => connect({ ...options, open: (url) => new FakeSocket(url) }),
		newId: () => `c${++ids}`,
		soon: (work) => work(),
	});
}

function show(document = PLAYBOOK, live = store()) {
	const spies = {
		beforeStart: vi.fn(async () => {}),
		onCallSelected: vi.fn(),
		onStageSelected: vi.fn(),
		onTransitionSelected: vi.fn(),
	};
	const panel = (shown: Playbook) => (
		<MantineProvider env="test">
			<ChatPanel live={live} playbookId="p" document={shown} revision={3} selectedCall={null} {...spies} />
		</MantineProvider>
	);
	const { rerender, unmount } = render(panel(document));
	return { live, ...spies, unmount, change: (next: Playbook) => rerender(panel(next)) };
}

const field = () => screen.getByRole("textbox", { name: "Message" }) as HTMLTextAreaElement;
const conversation = () => screen.getByRole("log", { name: "Conversation" });

function type(text: string) {
	fireEvent.change(field(), { target: { value: text } });
}

async function send(text: string) {
	type(text);
	fireEvent.keyDown(field(), { key: "Enter" });
	await waitFor(() => expect(FakeSocket.all.length).toBeGreaterThan(0));
}

function hear(events: readonly SessionEvent[]) {
	act(() => {
		const socket = FakeSocket.last;
		if (socket.readyState === 0) {
			socket.accept();
			socket.say({ type: "ready", lastSeq: 0, status: "idle", running: null });
		}
		for (const event of events) socket.say(event);
	});
}

beforeEach(() => {
	FakeSocket.all = [];
	requests.length = 0;
	localStorage.clear();
	answer = () => ({ id: "s1", playbookRef: "p", playbookVersion: "draft@3", document: PLAYBOOK });
	forgetChoices();
	vi.stubGlobal("fetch", async (path: string) => new Response(JSON.stringify(ANSWERS[path] ?? {})));
});

describe("writing", () => {
	test("the first message saves the draft, starts a chat with it, and is shown at once", async () => {
		const { beforeStart } = show();
		await send("Hello");
		expect(within(conversation()).getByText("Hello")).toBeTruthy();
		expect(beforeStart).toHaveBeenCalledOnce();
		expect(requests[0]).toMatchObject({
			method: "POST",
			path: "/api/sessions",
			body: { document: PLAYBOOK, playbookRef: "p", playbookVersion: "draft@3" },
		});
		expect(await screen.findByText("draft 3")).toBeTruthy();
	});

	test("Shift+Enter makes a new line and an empty message is not sent", async () => {
		show();
		type("one");
		fireEvent.keyDown(field(), { key: "Enter", shiftKey: true });
		type("  ");
		fireEvent.keyDown(field(), { key: "Enter" });
		expect(requests.filter((one) => one.method === "POST")).toEqual([]);
	});

	test("is possible while a turn runs, and the message is shown as queued", async () => {
		show();
		await send("first");
		const log = new FakeLog();
		hear(log.addAll(1, plainTurn(1, "first", "A", "c1").slice(0, 4)));
		await send("second");
		expect(within(conversation()).getByText("queued: waits for the running turn")).toBeTruthy();
		expect(screen.getByRole("button", { name: /Stop/ })).toBeTruthy();
	});

	test("Up brings back what was sent, Down what was being typed", async () => {
		show();
		await send("first");
		hear(new FakeLog().addAll(1, plainTurn(1, "first", "A", "c1")));
		type("half");
		field().setSelectionRange(0, 0);
		fireEvent.keyDown(field(), { key: "ArrowUp" });
		expect(field().value).toBe("first");
		fireEvent.keyDown(field(), { key: "ArrowDown" });
		expect(field().value).toBe("half");
	});

	test("what is being typed survives a reload", () => {
		const { unmount } = show();
		type("not yet");
		unmount();
		show();
		expect(field().value).toBe("not yet");
	});

	test("a document with errors says which, and gives the text back", async () => {
		answer = () => {
			const details = [{ path: "/stages/0", message: "Stage ‘greet’ has no name.", code: "x" }];
			throw new ApiError(422, "invalid-document", "The document has an error.", "", { error: { details } });
		};
		show();
		type("Hello");
		fireEvent.keyDown(field(), { key: "Enter" });
		expect(await screen.findByText("Stage ‘greet’ has no name.")).toBeTruthy();
		await waitFor(() => expect(field().value).toBe("Hello"));
		expect(within(conversation()).queryByText("Hello")).toBeNull();
	});
});

describe("reading", () => {
	test("a turn with a tool and a transition reads as in the log", async () => {
		const { onCallSelected, onTransitionSelected } = show();
		await send("hi");
		const log = new FakeLog();
		log.addAll(1, [
			{ type: "user_message", text: "hi", clientId: "c1" },
			{ type: "turn_started", stage: "greet", cause: "message" },
			{ type: "phase1_start", stage: "greet" },
			callStarted(1, 1),
			callCompleted(1, ""),
			{ type: "tool_call_start", callId: "x", name: "lookup", arguments: { email: "ada@example.org" } },
			{
				type: "tool_call_complete",
				callId: "x",
				toolName: "lookup",
				success: true,
				result: { id: 7 },
				durationMs: 120,
			},
			{ type: "transition_triggered", transition: "t1", fromStage: "greet", toStage: "triage", mode: "goto" },
			{ type: "stage_entered", stage: "triage", frame: "f2", visit: 2, prompt: "" },
			{ type: "phase2_start", stage: "triage" },
			callStarted(2),
			callCompleted(2, "Thanks <b>Ada</b>"),
			{ type: "turn_complete", stage: "triage", text: "Thanks <b>Ada</b>" },
		]);
		hear(log.events);
		const said = within(conversation());
		expect(said.getByRole("article", { name: "Tool lookup" }).textContent).toContain(
			'{"email":"ada@example.org"} → {"id":7}',
		);
		expect(said.getByText("120 ms · ok")).toBeTruthy();
		fireEvent.click(said.getByText("→ Triage · lookup succeeded"));
		expect(onTransitionSelected).toHaveBeenCalledWith("t1");
		fireEvent.click(said.getByText("Thanks <b>Ada</b>"));
		expect(onCallSelected).toHaveBeenCalledWith(2);
		expect(
			said.getByText(
				"call 2 · 12 ms to first word · 100 in (90 % cached, simulated) · 5 out · no cost (rehearsal)",
			),
		).toBeTruthy();
		expect(screen.getAllByText("rehearsal (no model)")).toHaveLength(1);
	});

	test("the model's way of moving on is told once, by the line of the move; a refused one stays visible", async () => {
		show();
		await send("hi");
		const move = (callId: string, success: boolean) => [
			{ type: "tool_call_start" as const, callId, name: "playbook_transition", arguments: {} },
			{
				type: "tool_call_complete" as const,
				callId,
				toolName: "playbook_transition",
				success,
				...(success ? { result: null } : { error: "not allowed here" }),
				durationMs: 0,
			},
		];
		hear(
			new FakeLog().addAll(1, [
				{ type: "user_message", text: "hi", clientId: "c1" },
				{ type: "turn_started", stage: "greet", cause: "message" },
				callStarted(1, 1),
				callCompleted(1, ""),
				...move("a", false),
				...move("b", true),
			]),
		);
		const cards = within(conversation()).getAllByRole("article", { name: "Tool playbook_transition" });
		expect(cards.map((card) => card.textContent)).toEqual([expect.stringContaining("not allowed here")]);
	});

	test("after the end nothing is sent and nothing typed is lost: a new chat is offered", async () => {
		show();
		await send("bye");
		const said = new FakeLog();
		said.addAll(1, plainTurn(1, "bye", "Goodbye", "c1"));
		said.addAll(1, [{ type: "session_complete", stage: "greet" }]);
		hear(said.events);
		const before = FakeSocket.last.sent.length;
		type("one more thing");
		fireEvent.keyDown(field(), { key: "Enter" });
		expect(FakeSocket.last.sent.length).toBe(before);
		expect(field().value).toBe("one more thing");
		expect(screen.getByText(/a new chat takes the message/)).toBeTruthy();
		expect(screen.queryByRole("button", { name: "Send" })).toBeNull();
		expect(screen.getAllByRole("button", { name: "New chat" }).length).toBe(2);
	});

	test("a failed turn says what happened and retries on request", async () => {
		show();
		await send("hi");
		hear(
			new FakeLog().addAll(1, [
				{ type: "user_message", text: "hi", clientId: "c1" },
				{ type: "turn_started", stage: "greet" },
				{
					type: "turn_failed",
					stage: "greet",
					code: "overloaded",
					message: "The model is overloaded.",
					retryable: true,
				},
			]),
		);
		expect(screen.getByText("The model is overloaded.")).toBeTruthy();
		fireEvent.click(screen.getByRole("button", { name: "Retry" }));
		expect(FakeSocket.last.sentOf("retry")).toHaveLength(1);
	});

	test("a stopped turn keeps what was said and can be said again", async () => {
		show();
		await send("hi");
		const log = new FakeLog();
		hear(
			log.addAll(1, [
				...plainTurn(1, "hi", "A", "c1").slice(0, 4),
				{ type: "turn_interrupted", stage: "greet", shownText: "Well, ", reason: "process_died" },
			]),
		);
		const said = within(conversation());
		expect(said.getByRole("article", { name: "Reply, turn 1" }).textContent).toContain(
			"Well, broken off here",
		);
		fireEvent.click(said.getByRole("button", { name: "Send again" }));
		expect(FakeSocket.last.sentOf("message").map((frame) => frame.text)).toEqual(["hi", "hi"]);
	});

	test("a draft that changed since is said quietly, a moved stage is no change", async () => {
		const { change } = show();
		await send("hi");
		hear([]);
		change({ ...PLAYBOOK, metadata: { studio: { layout: { greet: { x: 1, y: 2 } } } } });
		expect(screen.queryByText(/The draft changed/)).toBeNull();
		change({ ...PLAYBOOK, globalSystemPrompt: "Be brief." });
		expect(screen.getByText(/The draft changed since this chat began/)).toBeTruthy();
		fireEvent.click(screen.getByRole("button", { name: "New chat with the current draft" }));
		await waitFor(() => expect(requests.filter((one) => one.method === "POST")).toHaveLength(2));
		expect(screen.queryByText(/The draft changed/)).toBeNull();
	});

	test("the last chat of the playbook comes back after a reload", async () => {
		rememberChat("p", { sessionId: "s1", digest: "x" });
		show();
		await waitFor(() => expect(FakeSocket.all).toHaveLength(1));
		hear(new FakeLog().addAll(1, plainTurn(1, "before", "A")));
		expect(within(conversation()).getByText("before")).toBeTruthy();
	});

	test("a chat that is gone makes room for a new one", async () => {
		rememberChat("p", { sessionId: "old", digest: "x" });
		answer = () => {
			throw new ApiError(404, "not-found", "There is no such session.", "", {});
		};
		show();
		expect(await screen.findByText("Write the first message below.")).toBeTruthy();
		expect(localStorage.getItem("ps.chat.p")).toBeNull();
	});
});

describe("trying another model", () => {
	const openMenu = () => fireEvent.click(screen.getByRole("button", { name: /Try with another model$/ }));
	const searchFor = (text: string) =>
		fireEvent.change(screen.getByRole("combobox", { name: "Try with…" }), { target: { value: text } });

	test("it is said plainly that the rehearsal answers, and why", async () => {
		show();
		expect(await screen.findByText(new RegExp(NO_KEY))).toBeTruthy();
		expect(screen.getByRole("button", { name: /^rehearsal \(no model\)/ })).toBeTruthy();
	});

	test("a model that a server says it has begins the chat", async () => {
		show();
		openMenu();
		fireEvent.click(await screen.findByRole("option", { name: /org\/other/ }));
		await send("Hello");
		expect(requests[0]?.body).toMatchObject({ model: "local/org/other" });
		expect(screen.queryByText(new RegExp(NO_KEY))).toBeNull();
	});

	test("a running chat changes at once, and goes back to what the playbook says", async () => {
		show();
		await send("Hello");
		hear([]);
		openMenu();
		searchFor("typed-model");
		fireEvent.click(await screen.findByRole("option", { name: /typed-model.*local/ }));
		expect(FakeSocket.last.sentOf("use")).toEqual([{ type: "use", model: "local/typed-model" }]);
		const log = new FakeLog();
		hear([log.add(0, { type: "session_using", model: "local/typed-model" })]);
		expect(screen.getByRole("button", { name: /^typed-model, in this chat only/ })).toBeTruthy();
		openMenu();
		fireEvent.click(await screen.findByRole("option", { name: /As the playbook says/ }));
		expect(FakeSocket.last.sentOf("use").at(-1)).toEqual({ type: "use", model: "" });
	});
});
