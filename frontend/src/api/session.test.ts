import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ApiError } from "./client";
import { FakeLog, FakeSocket, plainTurn } from "./fakes";
import { createLiveSession, type LiveSessionStore, type NewSession, type SessionWorld } from "./session";
import { backoffMs, connect } from "./socket";

const detail = { id: "s1", playbookRef: "p1", playbookVersion: "draft@3", document: { name: "x" } };

function world(answers: Record<string, unknown> = {}): SessionWorld {
	let ids = 0;
	return {
		request: (async (_method: string, path: string) => {
			const answer = path in answers ? answers[path] : detail;
			if (answer instanceof Error) throw answer;
			return path.endsWith("/calls") ? [] : answer;
		}) as SessionWorld["request"],
		connect: (options) => connect({ ...options, open: (url) => new FakeSocket(url), random: () => 1 }),
		newId: () => `c${++ids}`,
		soon: (work) => work(),
	};
}

const draft: NewSession = { playbookId: "p1", prepare: async () => ({ document: {}, version: "draft@3" }) };

const opened: LiveSessionStore[] = [];

function store(answers: Record<string, unknown> = {}): LiveSessionStore {
	const live = createLiveSession(world(answers));
	opened.push(live);
	return live;
}

async function chat() {
	const live = store();
	await live.getState().start(draft);
	return live;
}

const ready = (lastSeq: number) => ({ type: "ready", lastSeq, status: "idle", running: null }) as const;

beforeEach(() => {
	vi.useFakeTimers();
	FakeSocket.all = [];
	localStorage.clear();
});
afterEach(() => {
	for (const live of opened.splice(0)) live.getState().close();
	vi.useRealTimers();
});

describe("the line", () => {
	test("waits twice as long each time, at most 15 s, and never exactly with the others", () => {
		expect([0, 1, 2, 9].map((attempt) => backoffMs(attempt, () => 1))).toEqual([300, 600, 1200, 15000]);
		expect(backoffMs(0, () => 0)).toBe(150);
	});

	test("asks for what came after the last known event each time it comes back", async () => {
		const live = await chat();
		const log = new FakeLog();
		log.addAll(1, plainTurn(1, "a", "A"));
		FakeSocket.last.accept();
		expect(FakeSocket.last.sent).toEqual([{ type: "hello", afterSeq: 0 }]);
		for (const event of log.events.slice(0, 4)) FakeSocket.last.say(event);
		FakeSocket.last.breakOff();
		expect(live.getState().connection.state).toBe("waiting");
		vi.advanceTimersByTime(300);
		FakeSocket.last.accept();
		expect(FakeSocket.last.sent).toEqual([{ type: "hello", afterSeq: 4 }]);
		for (const event of log.events) FakeSocket.last.say(event);
		FakeSocket.last.say(ready(log.events.length));
		expect(live.getState().connection.state).toBe("open");
		expect(live.getState().timeline.map((item) => "text" in item && item.text)).toEqual(["a", "A"]);
		expect(FakeSocket.all).toHaveLength(2);
	});

	test("a gap is asked for once until it was answered", async () => {
		const live = await chat();
		const log = new FakeLog();
		log.addAll(1, plainTurn(1, "a", "A"));
		const socket = FakeSocket.last;
		socket.accept();
		socket.say(ready(0));
		for (const event of log.events.slice(3)) socket.say(event);
		expect(socket.sentOf("hello")).toHaveLength(2);
		for (const event of log.events) socket.say(event);
		socket.say(ready(log.events.length));
		expect(live.getState().lastSeq).toBe(log.events.length);
		expect(socket.sentOf("hello")).toHaveLength(2);
	});

	test("pings when nothing is heard and dials anew when nothing answers", async () => {
		await chat();
		FakeSocket.last.accept();
		FakeSocket.last.say(ready(0));
		vi.advanceTimersByTime(20_000);
		expect(FakeSocket.last.sentOf("ping")).toHaveLength(1);
		vi.advanceTimersByTime(30_000);
		expect(FakeSocket.all).toHaveLength(2);
	});

	test("tells the server now and then that a long answer arrives", async () => {
		await chat();
		FakeSocket.last.accept();
		FakeSocket.last.say(ready(0));
		const text = "x".repeat(300_000);
		for (let call = 1; call <= 8; call++) {
			FakeSocket.last.say({ type: "text_delta", turn: 1, call, offset: 0, text });
		}
		expect(FakeSocket.last.sentOf("ping")).toHaveLength(2);
	});

	test("does not come back to a session that is not there", async () => {
		const live = await chat();
		FakeSocket.last.accept();
		FakeSocket.last.breakOff(4404);
		vi.advanceTimersByTime(60_000);
		expect(FakeSocket.all).toHaveLength(1);
		expect(live.getState().connection).toEqual({
			state: "refused",
			reason: "This chat does not exist any more.",
		});
	});

	test("goes on by itself when the network is back", async () => {
		await chat();
		FakeSocket.last.accept();
		window.dispatchEvent(new Event("offline"));
		vi.advanceTimersByTime(60_000);
		expect(FakeSocket.all).toHaveLength(1);
		window.dispatchEvent(new Event("online"));
		expect(FakeSocket.all).toHaveLength(2);
	});

	test("frames that are not ours are ignored", async () => {
		const live = await chat();
		FakeSocket.last.accept();
		FakeSocket.last.say("not json");
		FakeSocket.last.say("[1]");
		FakeSocket.last.say(ready(0));
		expect(live.getState().connection.state).toBe("open");
	});
});

describe("messages", () => {
	test("typed while the line is down, they go out when it is back, under the same name", async () => {
		const live = await chat();
		live.getState().send("first");
		FakeSocket.last.accept();
		expect(FakeSocket.last.sentOf("message")).toEqual([]);
		FakeSocket.last.say(ready(0));
		const sent = [{ type: "message", clientId: "c1", text: "first" }];
		expect(FakeSocket.last.sentOf("message")).toEqual(sent);
		FakeSocket.last.breakOff();
		vi.advanceTimersByTime(300);
		FakeSocket.last.accept();
		FakeSocket.last.say(ready(0));
		expect(FakeSocket.last.sentOf("message")).toEqual(sent);
	});

	test("leave the outbox once the log has them", async () => {
		const live = await chat();
		FakeSocket.last.accept();
		FakeSocket.last.say(ready(0));
		live.getState().send("first");
		expect(live.getState().outbox).toHaveLength(1);
		FakeSocket.last.say(new FakeLog().add(1, { type: "user_message", text: "first", clientId: "c1" }));
		expect(live.getState().outbox).toEqual([]);
		expect(localStorage.getItem("ps.outbox.s1")).toBeNull();
	});

	test("survive a reload of the page before they were taken", async () => {
		(await chat()).getState().send("first");
		const again = store();
		await again.getState().attach("s1");
		FakeSocket.last.accept();
		FakeSocket.last.say(ready(0));
		expect(FakeSocket.last.sentOf("message")).toEqual([{ type: "message", clientId: "c1", text: "first" }]);
	});

	test("that are too large are refused before they are sent", async () => {
		const live = await chat();
		expect(live.getState().send("x".repeat(3_000_000))).toBe(
			"This message has 3.0 MB; the most that can be sent is 1 MB.",
		);
		expect(live.getState().outbox).toEqual([]);
	});
});

describe("starting", () => {
	test("takes the playbooks along that the document may call", async () => {
		const agents = { "pay-desk": { id: "pay-desk" } };
		const asked: [string, unknown][] = [];
		const answers = { "/api/playbooks/agents": { agents, playbooks: {} } };
		const live = createLiveSession({
			...world(answers),
			request: (async (method: string, path: string, body: unknown) => {
				asked.push([path, body]);
				return world(answers).request(method as "POST", path, body);
			}) as SessionWorld["request"],
		});
		opened.push(live);
		const document = { agents: [{ name: "Payer", playbook: "pay-desk" }] };
		await live.getState().start({ playbookId: "p1", prepare: async () => ({ document, version: "" }) });
		expect(asked.slice(0, 2)).toEqual([
			["/api/playbooks/agents", { document }],
			["/api/sessions", { document, agents, playbookRef: "p1", playbookVersion: "" }],
		]);
	});

	test("names the errors of the document that stop it", async () => {
		const body = { error: { details: [{ path: "/stages/0", message: "Stage has no name", code: "x" }] } };
		const error = new ApiError(422, "invalid-document", "The document has 1 error.", "", body);
		const live = store({ "/api/sessions": error });
		await live.getState().start(draft);
		expect(live.getState()).toMatchObject({
			starting: false,
			sessionId: null,
			startFailure: { message: "The document has 1 error.", details: [{ message: "Stage has no name" }] },
		});
	});

	test("a message typed while the chat starts goes with it", async () => {
		const live = store();
		const started = live.getState().start(draft);
		expect(live.getState().send("first")).toBeNull();
		await started;
		FakeSocket.last.accept();
		FakeSocket.last.say(ready(0));
		expect(FakeSocket.last.sentOf("message")).toMatchObject([{ text: "first" }]);
	});

	test("a chat that was left while it started does not come back", async () => {
		const live = store();
		const started = live.getState().start(draft);
		live.getState().close();
		await started;
		expect(live.getState().sessionId).toBeNull();
		expect(FakeSocket.all).toHaveLength(0);
	});

	test("a new chat leaves nothing of the old one", async () => {
		const live = await chat();
		const old = FakeSocket.last;
		old.accept();
		old.say(new FakeLog().add(1, { type: "user_message", text: "old", clientId: null }));
		await live.getState().start(draft);
		expect(live.getState().timeline).toEqual([]);
		expect(old.readyState).toBe(3);
	});
});
