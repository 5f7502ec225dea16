/**
 * What the parts of the editor share: the document's history, what is selected and open, and the doors to the
 * canvas and to the app. One `Editor` lives as long as one playbook is open.
 */
import { createContext, useContext } from "react";
import { useStore } from "zustand";
import { createStore, type StoreApi } from "zustand/vanilla";
import type { LiveGraph, LiveGraphStore } from "../api/live";
import { NOTHING_SELECTED, type Selection } from "../playbook/commands";
import { createHistory, type History } from "../playbook/history";
import { NO_PROBLEMS, type Problems } from "../playbook/problems";
import type { Playbook, Position } from "../playbook/types";

/** A menu that is open at a place of the window. */
export interface OpenMenu {
	readonly kind: "stage" | "transition" | "canvas" | "new-stage";
	/** Stage or transition; the stage to connect from for `new-stage`. */
	readonly id: string | null;
	readonly screen: Position;
}
export type OpenDialog =
	| { readonly kind: "find" | "help" | "report" }
	| { readonly kind: "connect"; readonly from: string };

export interface EditorUi {
	readonly selection: Selection;
	readonly renaming: string | null;
	/** Stage whose first name is being typed: its id is made from it. */
	readonly newborn: string | null;
	/** Transition that was just drawn: what it needs first takes the focus. */
	readonly fresh: string | null;
	readonly menu: OpenMenu | null;
	readonly dialog: OpenDialog | null;
	/** For screen readers: what was just done. */
	readonly announcement: string;
	/** Stage or transition that was jumped to and flashes once. */
	readonly flash: string | null;
	readonly problems: Problems;
	readonly tidying: boolean;
	/** As a list or as a graph; null until a person chooses: then the screen's width does. */
	readonly outline: boolean | null;
}

/** What the canvas can do for the others; there only while it is on the screen. */
export interface CanvasView {
	fit(stageIds?: readonly string[]): void;
	zoomTo(level: number): void;
	zoomBy(factor: number): void;
	/** Pans by as little as needed to show the stages; does nothing if they can be seen. */
	reveal(stageIds: readonly string[]): void;
	toCanvas(screen: Position): Position;
	/** The pointer if it is over the canvas, else the middle, in canvas pixels. */
	pointer(): Position;
	/** Gives the focus to what is selected, as soon as it is drawn; to the canvas if nothing is. */
	focus(): void;
}

/** What the editor asks of the app around it. */
export interface EditorHost {
	openProperties(): void;
	/** Opens them and goes on in their first field. */
	enterProperties(): void;
	openTalk(): void;
	/** A stage was clicked while a chat runs that has been there: shows what the model was sent in it. */
	inspectStage(stageId: string): void;
	saveNow(): void;
	exportFile(): void;
	/** Offers the other formats. */
	exportAs(): void;
	showVersions(): void;
	/** Closes the top-most panel; false if none is open. */
	closePanel(): boolean;
}

export interface Editor {
	readonly history: History;
	readonly ui: StoreApi<EditorUi>;
	readonly live: LiveGraphStore;
	readonly host: EditorHost;
	view: CanvasView | null;
	settleTimer: ReturnType<typeof setTimeout> | undefined;
}

const CLOSED: EditorUi = {
	selection: NOTHING_SELECTED,
	renaming: null,
	newborn: null,
	fresh: null,
	menu: null,
	dialog: null,
	announcement: "",
	flash: null,
	problems: NO_PROBLEMS,
	tidying: false,
	outline: null,
};

export function createEditor(document: Playbook, live: LiveGraphStore, host: EditorHost): Editor {
	return {
		history: createHistory(document),
		ui: createStore<EditorUi>(() => CLOSED),
		live,
		host,
		view: null,
		settleTimer: undefined,
	};
}

const EditorContext = createContext<Editor | null>(null);
export const EditorProvider = EditorContext.Provider;

export function useEditor(): Editor {
	const editor = useContext(EditorContext);
	if (!editor) throw new Error("useEditor outside of an EditorProvider");
	return editor;
}

export function useDocument(): Playbook {
	return useStore(useEditor().history.store, (state) => state.document);
}

export function useUi<T>(select: (ui: EditorUi) => T): T {
	return useStore(useEditor().ui, select);
}

export function useLive<T>(select: (live: LiveGraph) => T): T {
	return useStore(useEditor().live, select);
}
