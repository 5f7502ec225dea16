/** The few addresses of the app, and moving between them without loading the page anew. */
import { type AnchorHTMLAttributes, type MouseEvent, useSyncExternalStore } from "react";
import { CONNECTIONS_PAGE } from "../api/connections";

export type Route =
	| { readonly name: "gallery" }
	| { readonly name: "workbench"; readonly playbookId: string }
	| {
			readonly name: "inspect";
			readonly playbookId: string | null;
			readonly sessionId: string;
			readonly call: number | null;
	  }
	| { readonly name: "connections" }
	| { readonly name: "unknown" };

export const paths = {
	gallery: () => "/",
	connections: () => CONNECTIONS_PAGE,
	workbench: (id: string) => `/playbooks/${encodeURIComponent(id)}`,
	inspect: (session: string, call: number | null) =>
		`/sessions/${encodeURIComponent(session)}${call === null ? "" : `/calls/${call}`}`,
};

function callNumber(text: string | undefined): number | null {
	return text !== undefined && /^\d+$/.test(text) ? Number(text) : null;
}

function partsOf(path: string): string[] | null {
	try {
		return path.split("/").filter(Boolean).map(decodeURIComponent);
	} catch {
		return null; // a mistyped `%`
	}
}

export function parseRoute(path: string): Route {
	const parts = partsOf(path);
	if (parts === null) return { name: "unknown" };
	const [first, id, third, session, call] = parts;
	if (first === undefined) return { name: "gallery" };
	if (path === CONNECTIONS_PAGE) return { name: "connections" };
	if (first === "playbooks" && id && third === undefined) return { name: "workbench", playbookId: id };
	if (first === "playbooks" && id && third === "inspect" && session) {
		return { name: "inspect", playbookId: id, sessionId: session, call: callNumber(call) };
	}
	if (first === "sessions" && id) {
		return {
			name: "inspect",
			playbookId: null,
			sessionId: id,
			call: third === "calls" ? callNumber(session) : null,
		};
	}
	return { name: "unknown" };
}

const MOVED = "ps:moved";

export function navigate(path: string, { replace = false } = {}): void {
	if (replace) history.replaceState(null, "", path);
	else history.pushState(null, "", path);
	window.dispatchEvent(new Event(MOVED));
}

function subscribe(listener: () => void): () => void {
	for (const name of ["popstate", MOVED]) window.addEventListener(name, listener);
	return () => {
		for (const name of ["popstate", MOVED]) window.removeEventListener(name, listener);
	};
}

export function usePath(): string {
	return useSyncExternalStore(subscribe, () => window.location.pathname);
}

interface LinkProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
	href: string;
}

/** A real link, so that it can be opened in another tab; a plain click stays on the page. */
export function Link({ href, onClick, ...rest }: LinkProps) {
	const follow = (event: MouseEvent<HTMLAnchorElement>) => {
		onClick?.(event);
		if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey)
			return;
		event.preventDefault();
		navigate(href);
	};
	return <a href={href} onClick={follow} {...rest} />;
}
