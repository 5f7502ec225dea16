/** The session that the workbench shows: its state, and what a person can do with it. */
import { createStore, type StoreApi } from "zustand/vanilla";
import type { Playbook } from "../playbook/types";
import { ApiError, request } from "./client";
import type { CallView, ClientFrame, KnownCall, ServerFrame, SessionDetail } from "./frames";
import { type LiveState, NO_SESSION, type Outgoing, type StartFailure } from "./liveState";
import { loadOutbox, saveOutbox } from "./outbox";
import { reduce, withCalls } from "./reduce";
import { connect, type SessionSocket, type SocketOptions } from "./socket";

/** Largest message the server takes, in bytes of UTF-8. */
export const MESSAGE_LIMIT_BYTES = 1_000_000;

/** What a new session runs. */
export interface Runnable {
	readonly document: unknown;
	/** Which state of the playbook it is, for people: `draft@12`. */
	readonly version: string;
}

export interface NewSession {
	readonly playbookId: string;
	/** Tried instead of what the playbook says. */
	readonly model?: string | null;
	/** Gives the document at the moment it is needed, after what is being typed was saved. */
	readonly prepare: () => Promise<Runnable>;
}

export interface LiveSession extends LiveState {
	/** Begins a new session and opens its line; messages sent meanwhile go with it. */
	start(session: NewSession): Promise<void>;
	/** Opens the line to a session that exists; nothing happens if it is open already. */
	attach(sessionId: string): Promise<void>;
	/** Leaves the session; it goes on at the server. */
	close(): void;
	/** Sends a message, or keeps it until the line is back; gives why not, in words. */
	send(text: string): string | null;
	/** Takes a refused message back out; gives its text. */
	takeBack(clientId: string): string;
	stop(): void;
	retry(): void;
	/** From the next call on another model; null: as the playbook says. */
	use(model: string | null): void;
	reconnect(): void;
	/** Makes sure that a call's segments are here. */
	loadCall(call: number): Promise<void>;
}

export type LiveSessionStore = StoreApi<LiveSession>;

/** What the store takes from outside; tests give doubles. */
export interface SessionWorld {
	readonly request: typeof request;
	readonly connect: (options: SocketOptions) => SessionSocket;
	readonly newId: () => string;
	/** Runs `work` a little later, so that frames arriving together are shown together. */
	readonly soon: (work: () => void) => void;
}

const FRAME_MS = 16;
const FIND_AGAIN_MS = 2_000;

const REAL_WORLD: SessionWorld = {
	request,
	connect,
	newId: () => crypto.randomUUID(),
	soon: (work) => void setTimeout(work, FRAME_MS),
};

export function createLiveSession(world: Partial<SessionWorld> = {}): LiveSessionStore {
	return createStore<LiveSession>((set, get) =>
		new Controller({ ...REAL_WORLD, ...world }, set, get).initial(),
	);
}

const sessionPath = (id: string) => `/api/sessions/${encodeURIComponent(id)}`;

function socketUrl(sessionId: string): string {
	const url = new URL(`/ws/sessions/${encodeURIComponent(sessionId)}/`, window.location.href);
	url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
	return url.href;
}

function isDetail(value: unknown): value is { path: string; message: string } {
	return typeof value === "object" && value !== null && "message" in value && "path" in value;
}

function startFailure(error: unknown): StartFailure {
	if (!(error instanceof ApiError)) {
		const reason = error instanceof Error && error.message ? ` ${error.message}` : "";
		return { message: `The chat could not be started.${reason}`, details: [] };
	}
	const body = error.body as { error?: { details?: unknown } } | undefined;
	const details = body?.error?.details;
	return { message: error.message, details: Array.isArray(details) ? details.filter(isDetail) : [] };
}

/** Why a session cannot be joined, or null if it is only that the server is away. */
function refusal(error: unknown): string | null {
	if (!(error instanceof ApiError)) return null;
	if (error.status === 404) return "This chat does not exist any more.";
	if (error.status === 401 || error.status === 403) {
		return "You are signed out. Sign in again to go on with this chat.";
	}
	return null;
}

class Controller {
	private socket: SessionSocket | null = null;
	private waiting: ServerFrame[] = [];
	private callsAsked = false;
	/** Counts sessions shown: an answer that comes after the next one was opened is dropped. */
	private generation = 0;

	constructor(
		private readonly world: SessionWorld,
		private readonly set: (change: Partial<LiveSession>) => void,
		private readonly get: () => LiveSession,
	) {}

	initial(): LiveSession {
		return {
			...NO_SESSION,
			start: (session) => this.start(session),
			attach: (sessionId) => this.attach(sessionId),
			close: () => this.close(),
			send: (text) => this.send(text),
			takeBack: (clientId) => this.takeBack(clientId),
			stop: () => void this.command({ type: "stop" }),
			retry: () => void this.command({ type: "retry" }),
			use: (model) => void this.command({ type: "use", model: model ?? "" }),
			reconnect: () => this.socket?.retryNow(),
			loadCall: (call) => this.loadCall(call),
		};
	}

	private async start(session: NewSession): Promise<void> {
		this.close();
		this.set({ starting: true, playbookId: session.playbookId });
		const mine = this.generation;
		try {
			const { document, version } = await session.prepare();
			const agents = await this.agentsOf(document);
			const detail = await this.world.request<SessionDetail>("POST", "/api/sessions", {
				document,
				...agents,
				playbookRef: session.playbookId,
				playbookVersion: version,
				...(session.model ? { model: session.model } : {}),
			});
			if (mine === this.generation) this.open(detail, document);
		} catch (error) {
			if (mine === this.generation) this.set({ starting: false, startFailure: startFailure(error) });
		}
	}

	/** The playbooks that the document may call: they are frozen with the session like the document itself. */
	private async agentsOf(document: unknown): Promise<{ agents?: Record<string, unknown> }> {
		if (!(document as Partial<Playbook>).agents?.length) return {};
		const { agents } = await this.world.request<{ agents: Record<string, unknown> }>(
			"POST",
			"/api/playbooks/agents",
			{ document },
		);
		return { agents };
	}

	private async attach(sessionId: string): Promise<void> {
		if (this.get().sessionId === sessionId) return;
		this.close();
		this.set({ sessionId, connection: { state: "connecting" } });
		await this.find(sessionId);
	}

	/** Opens the line to a session; while the server is away it is looked for again and again. */
	private async find(sessionId: string): Promise<void> {
		try {
			const detail = await this.world.request<SessionDetail>("GET", sessionPath(sessionId));
			if (this.isAwaited(sessionId)) this.open(detail, detail.document);
		} catch (error) {
			if (!this.isAwaited(sessionId)) return;
			if (error instanceof ApiError && error.isOutage) {
				this.set({ connection: { state: "waiting", retryInMs: FIND_AGAIN_MS } });
				setTimeout(() => this.isAwaited(sessionId) && void this.find(sessionId), FIND_AGAIN_MS);
				return;
			}
			const reason = error instanceof Error ? error.message : "The chat could not be opened.";
			this.set({ connection: { state: "refused", reason: refusal(error) ?? reason } });
		}
	}

	private isAwaited(sessionId: string): boolean {
		return this.get().sessionId === sessionId && this.socket === null;
	}

	private open(detail: SessionDetail, document: unknown): void {
		this.set({
			sessionId: detail.id,
			playbookId: detail.playbookRef,
			playbookVersion: detail.playbookVersion,
			document,
			starting: false,
			startFailure: null,
			outbox: [...loadOutbox(detail.id), ...this.get().outbox],
		});
		saveOutbox(detail.id, this.get().outbox);
		this.callsAsked = false;
		this.socket = this.world.connect({
			url: socketUrl(detail.id),
			afterSeq: () => this.get().lastSeq,
			onFrame: (frame) => this.receive(frame),
			onConnection: (connection) => this.set({ connection }),
			diagnose: () => this.diagnose(detail.id),
		});
	}

	private close(): void {
		this.generation++;
		this.socket?.close();
		this.socket = null;
		this.waiting = [];
		this.set({ ...NO_SESSION });
	}

	private async diagnose(sessionId: string): Promise<string | null> {
		try {
			await this.world.request("GET", sessionPath(sessionId));
			return null;
		} catch (error) {
			return refusal(error);
		}
	}

	private receive(frame: ServerFrame): void {
		this.waiting.push(frame);
		if (frame.type === "ready") this.flush();
		else if (this.waiting.length === 1) this.world.soon(() => this.flush());
	}

	private flush(): void {
		const frames = this.waiting;
		if (frames.length === 0) return;
		this.waiting = [];
		const before = this.get();
		const after = frames.reduce<LiveState>(reduce, before);
		this.set({ ...after, gap: false });
		if (after.outbox !== before.outbox && after.sessionId) saveOutbox(after.sessionId, after.outbox);
		if (after.gap) this.socket?.resync();
		if (frames.some((frame) => frame.type === "ready")) this.caughtUp();
	}

	/** The line is up and nothing is missing: send again what the log does not have, and learn of the calls. */
	private caughtUp(): void {
		for (const message of this.get().outbox) this.transmit(message);
		void this.loadCalls();
	}

	private send(text: string): string | null {
		const { sessionId, starting, outbox } = this.get();
		if (!sessionId && !starting) return "The chat has not started.";
		const size = new TextEncoder().encode(text).length;
		if (size > MESSAGE_LIMIT_BYTES) {
			const megabytes = (size / 1e6).toFixed(1);
			return `This message has ${megabytes} MB; the most that can be sent is ${MESSAGE_LIMIT_BYTES / 1e6} MB.`;
		}
		const message: Outgoing = { clientId: this.world.newId(), text, refused: null };
		this.keep([...outbox, message]);
		this.transmit(message);
		return null;
	}

	private keep(outbox: readonly Outgoing[]): void {
		this.set({ outbox });
		const { sessionId } = this.get();
		if (sessionId) saveOutbox(sessionId, outbox);
	}

	private transmit(message: Outgoing): void {
		if (message.refused !== null || !this.get().caughtUp) return;
		this.socket?.send({ type: "message", clientId: message.clientId, text: message.text });
	}

	private takeBack(clientId: string): string {
		const { outbox } = this.get();
		const message = outbox.find((one) => one.clientId === clientId);
		if (!message) return "";
		this.keep(outbox.filter((one) => one !== message));
		return message.text;
	}

	private command(frame: ClientFrame): void {
		if (this.socket?.send(frame)) return;
		this.set({
			notice: { code: "offline", message: "The connection is down; this can be done when it is back." },
		});
	}

	private async loadCalls(): Promise<void> {
		const { sessionId, facts } = this.get();
		if (!sessionId || this.callsAsked || facts.size === 0) return;
		this.callsAsked = true;
		try {
			const calls = await this.world.request<KnownCall[]>("GET", `${sessionPath(sessionId)}/calls`);
			// What the socket brought meanwhile is newer than the list.
			if (this.get().sessionId === sessionId) {
				const news = [...this.get().calls.values()];
				this.set(withCalls(withCalls(this.get(), calls), news));
			}
		} catch {
			this.callsAsked = false;
		}
	}

	private async loadCall(call: number): Promise<void> {
		const { sessionId, calls } = this.get();
		if (!sessionId || calls.get(call)?.segments) return;
		const view = await this.world.request<CallView>("GET", `${sessionPath(sessionId)}/calls/${call}`);
		if (this.get().sessionId === sessionId) this.set(withCalls(this.get(), [view]));
	}
}
