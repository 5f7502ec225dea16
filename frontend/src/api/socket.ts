/**
 * The line to one session: opens the WebSocket, says hello with what is known, and comes back by itself when it
 * breaks. It holds no session state: what to ask for and what to do with a frame is the owner's.
 */
import type { ClientFrame, ServerFrame } from "./frames";
import type { Connection } from "./liveState";

/** The part of a WebSocket that is used here; tests give their own. */
export interface SocketLike {
	readyState: number;
	onopen: ((event: unknown) => void) | null;
	onmessage: ((event: { data: unknown }) => void) | null;
	onclose: ((event: { code: number; reason: string }) => void) | null;
	onerror: ((event: unknown) => void) | null;
	send(data: string): void;
	close(code?: number): void;
}

export interface SocketOptions {
	readonly url: string;
	/** The last event that is known, asked at every hello. */
	readonly afterSeq: () => number;
	readonly onFrame: (frame: ServerFrame) => void;
	readonly onConnection: (connection: Connection) => void;
	/** Asked when a socket closed before it opened: a sentence if coming back is useless, else null. */
	readonly diagnose?: () => Promise<string | null>;
	readonly open?: (url: string) => SocketLike;
	readonly random?: () => number;
}

export interface SessionSocket {
	/** Sends now; false when the line is down (the owner keeps what must not be lost). */
	send(frame: ClientFrame): boolean;
	/** Asks for what is missing, once until it was answered. */
	resync(): void;
	/** Tries again at once. */
	retryNow(): void;
	close(): void;
}

const OPEN = 1;
const FIRST_WAIT_MS = 300;
const LONGEST_WAIT_MS = 15_000;
/** Silence after which a ping is sent, and after which the line counts as dead. */
const PING_AFTER_MS = 20_000;
const DEAD_AFTER_MS = 45_000;
/** Characters heard after which a ping tells the server that they arrived; it stops pushing at a few times that. */
const ACKNOWLEDGE_EVERY = 1_000_000;
/** Close codes that say "do not come back": not signed in, not yours, not there. */
const REFUSALS: Readonly<Record<number, string>> = {
	4401: "You are signed out. Sign in again to go on with this chat.",
	4403: "This server refuses connections from this page's address.",
	4404: "This chat does not exist any more.",
};

/** Time before try number `attempt` (from 0): doubling, at most 15 s, between half and all of it by chance. */
export function backoffMs(attempt: number, random: () => number): number {
	const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(attempt, 10));
	return Math.round(longest * (0.5 + random() / 2));
}

function parse(data: unknown): ServerFrame | null {
	if (typeof data !== "string") return null;
	try {
		const value: unknown = JSON.parse(data);
		const typed = typeof value === "object" && value !== null && "type" in value;
		return typed ? (value as ServerFrame) : null;
	} catch {
		return null;
	}
}

const openWebSocket = (url: string): SocketLike => new WebSocket(url) as unknown as SocketLike;

export function connect(options: SocketOptions): SessionSocket {
	const line = new Line(options);
	line.start();
	return line;
}

class Line implements SessionSocket {
	private socket: SocketLike | null = null;
	private attempt = 0;
	private ended = false;
	private helloPending = false;
	private retryTimer: ReturnType<typeof setTimeout> | undefined;
	private pulse: ReturnType<typeof setInterval> | undefined;
	private heardAt = 0;
	private unacknowledged = 0;

	constructor(private readonly options: SocketOptions) {}

	start(): void {
		window.addEventListener("online", this.retryNow);
		window.addEventListener("offline", this.wentOffline);
		this.dial();
	}

	send(frame: ClientFrame): boolean {
		if (this.socket?.readyState !== OPEN) return false;
		this.unacknowledged = 0;
		this.socket.send(JSON.stringify(frame));
		return true;
	}

	resync(): void {
		if (this.helloPending) return;
		this.helloPending = this.send({ type: "hello", afterSeq: this.options.afterSeq() });
	}

	retryNow = (): void => {
		if (this.ended || this.socket) return;
		this.attempt = 0;
		this.dial();
	};

	close(): void {
		this.ended = true;
		window.removeEventListener("online", this.retryNow);
		window.removeEventListener("offline", this.wentOffline);
		this.drop();
		this.options.onConnection({ state: "closed" });
	}

	private dial(): void {
		clearTimeout(this.retryTimer);
		this.options.onConnection({ state: "connecting" });
		const socket = (this.options.open ?? openWebSocket)(this.options.url);
		this.socket = socket;
		let opened = false;
		socket.onopen = () => {
			opened = true;
			this.wasOpened();
		};
		socket.onmessage = (event) => this.heard(event.data);
		socket.onclose = (event) => this.wasClosed(event.code, opened);
		socket.onerror = null;
	}

	private wasOpened(): void {
		this.helloPending = false;
		this.heardAt = Date.now();
		this.resync();
		this.pulse = setInterval(this.checkPulse, 5_000);
	}

	private heard(data: unknown): void {
		this.heardAt = Date.now();
		const frame = parse(data);
		if (!frame) return;
		if (frame.type === "ready") {
			this.helloPending = false;
			this.attempt = 0;
			this.options.onConnection({ state: "open" });
		}
		this.options.onFrame(frame);
		this.acknowledge(String(data).length);
	}

	private acknowledge(characters: number): void {
		this.unacknowledged += characters;
		if (this.unacknowledged >= ACKNOWLEDGE_EVERY) this.send({ type: "ping" });
	}

	private checkPulse = (): void => {
		const silence = Date.now() - this.heardAt;
		if (silence >= DEAD_AFTER_MS) this.lost();
		else if (silence >= PING_AFTER_MS) this.send({ type: "ping" });
	};

	/** The socket says nothing and does not close: leave it and dial anew. */
	private lost(): void {
		this.drop();
		this.redial();
	}

	private wasClosed(code: number, opened: boolean): void {
		this.drop();
		if (this.ended) return;
		const refusal = REFUSALS[code];
		if (refusal) this.refuse(refusal);
		else if (opened || !this.options.diagnose) this.redial();
		else void this.redialUnlessRefused(this.options.diagnose);
	}

	private async redialUnlessRefused(diagnose: () => Promise<string | null>): Promise<void> {
		const refusal = await diagnose().catch(() => null);
		if (this.ended || this.socket) return;
		if (refusal) this.refuse(refusal);
		else this.redial();
	}

	private refuse(reason: string): void {
		this.options.onConnection({ state: "refused", reason });
	}

	private redial(): void {
		if (this.ended) return;
		if (navigator.onLine === false) {
			this.options.onConnection({ state: "offline" });
			return;
		}
		const wait = backoffMs(this.attempt++, this.options.random ?? Math.random);
		this.options.onConnection({ state: "waiting", retryInMs: wait });
		clearTimeout(this.retryTimer);
		this.retryTimer = setTimeout(() => this.dial(), wait);
	}

	private wentOffline = (): void => {
		this.drop();
		this.options.onConnection({ state: "offline" });
	};

	/** Lets go of the socket without hearing from it again. */
	private drop(): void {
		clearTimeout(this.retryTimer);
		clearInterval(this.pulse);
		const socket = this.socket;
		this.socket = null;
		this.helloPending = false;
		if (!socket) return;
		socket.onopen = socket.onmessage = socket.onclose = socket.onerror = null;
		socket.close();
	}
}
