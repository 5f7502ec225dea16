/** The one way to the server's HTTP API: adds the CSRF token, turns every failure into an `ApiError`. */

export class ApiError extends Error {
	constructor(
		/** HTTP status; 0 when the server could not be reached. */
		readonly status: number,
		/** The server's word for what went wrong, such as `stale-revision`. */
		readonly code: string,
		message: string,
		/** JSON pointer into what was sent, where the server knows it. */
		readonly path: string,
		readonly body: unknown,
	) {
		super(message);
		this.name = "ApiError";
	}

	/** The server could not be reached, or is not able to answer now: worth trying again. */
	get isOutage(): boolean {
		return this.status === 0 || this.status === 502 || this.status === 503 || this.status === 504;
	}
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

interface RequestOptions {
	readonly signal?: AbortSignal;
	/** Let the browser finish the request after the page is gone (bodies up to 64 kB). */
	readonly keepalive?: boolean;
	/** A file or JSON text to send just as it is, instead of a body. */
	readonly rawBody?: string | Blob;
}

function csrfToken(): string {
	return document.querySelector<HTMLMetaElement>('meta[name="csrf-token"]')?.content ?? "";
}

function isRecord(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

function errorFrom(status: number, body: unknown): ApiError {
	const error = isRecord(body) && isRecord(body.error) ? body.error : {};
	const text = (key: string) => (typeof error[key] === "string" ? error[key] : "");
	const message = text("message") || `The server answered with status ${status}.`;
	return new ApiError(status, text("code"), message, text("path"), body);
}

async function readBody(response: Response): Promise<unknown> {
	const text = await response.text();
	if (text === "") return undefined;
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
}

async function send(method: Method, path: string, body: unknown, options: RequestOptions): Promise<Response> {
	const headers: Record<string, string> = { Accept: "application/json" };
	if (method !== "GET") headers["X-CSRFToken"] = csrfToken();
	const { rawBody, ...others } = options;
	const text = rawBody ?? (body === undefined ? undefined : JSON.stringify(body));
	if (text !== undefined) headers["Content-Type"] = "application/json";
	const init: RequestInit = { method, headers, credentials: "same-origin", ...others };
	if (text !== undefined) init.body = text;
	try {
		return await fetch(path, init);
	} catch (cause) {
		if (options.signal?.aborted) throw cause;
		throw new ApiError(0, "unreachable", "The server cannot be reached.", "", cause);
	}
}

/** Sends one request and gives the parsed answer; throws `ApiError` for anything but 2xx. */
export async function request<T>(
	method: Method,
	path: string,
	body?: unknown,
	options: RequestOptions = {},
): Promise<T> {
	const response = await send(method, path, body, options);
	const answer = await readBody(response);
	if (!response.ok) throw errorFrom(response.status, answer);
	return answer as T;
}
