/** Texts of segments and requests of calls, asked for once. */
import { useEffect, useState } from "react";
import { ApiError, request } from "../api/client";

/** What is being asked for: the value when it is here, or why it is not. */
export type Asked<T> =
	| { readonly state: "asking" }
	| { readonly state: "here"; readonly value: T }
	| { readonly state: "failed"; readonly message: string };

const KEPT = 400;
const known = new Map<string, Promise<unknown>>();

/** The answer of a path that never changes. A failure is not kept. */
export function askOnce<T>(path: string): Promise<T> {
	const before = known.get(path);
	if (before) return before as Promise<T>;
	const answer = request<T>("GET", path);
	answer.catch(() => known.delete(path));
	known.set(path, answer);
	const oldest = known.keys().next().value;
	if (known.size > KEPT && oldest !== undefined) known.delete(oldest);
	return answer;
}

/** Asks for `path` while it is shown; null asks for nothing. */
export function useAsked<T>(path: string | null): Asked<T> {
	const [asked, setAsked] = useState<{ path: string | null; now: Asked<T> }>({
		path,
		now: { state: "asking" },
	});
	useEffect(() => {
		if (path === null) return;
		let shown = true;
		const show = (now: Asked<T>) => shown && setAsked({ path, now });
		askOnce<T>(path).then(
			(value) => show({ state: "here", value }),
			(error) =>
				show({ state: "failed", message: error instanceof ApiError ? error.message : String(error) }),
		);
		return () => {
			shown = false;
		};
	}, [path]);
	return asked.path === path ? asked.now : { state: "asking" };
}

const session = (id: string) => `/api/sessions/${encodeURIComponent(id)}`;

export const textPath = (sessionId: string, hash: string): string =>
	`${session(sessionId)}/segments/${encodeURIComponent(hash)}`;

export const requestPath = (sessionId: string, call: number): string =>
	`${session(sessionId)}/calls/${call}/request`;

export const artifactPath = (sessionId: string, hash: string): string =>
	`${session(sessionId)}/artifacts/${encodeURIComponent(hash)}`;

/** `counted` tells one answer from the next: the costs change with each call that is counted. */
export const costsPath = (sessionId: string, counted: number): string =>
	`${session(sessionId)}/costs?counted=${counted}`;

/** A part of an artifact's text; `length` is that of the whole. */
export interface ArtifactText {
	readonly text: string;
	readonly length: number;
}

export interface SegmentText {
	readonly hash: string;
	readonly text: string;
}
