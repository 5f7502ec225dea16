import { beforeEach, expect, it } from "vitest";
import { createLayout } from "./layoutStore";
import { visiblePanels } from "./visiblePanels";

beforeEach(() => localStorage.clear());

it("shows properties and talk as tabs of one column where there is room", () => {
	const layout = createLayout();
	layout.openProperties(false);
	expect(visiblePanels("wide", layout.store.getState())).toMatchObject({
		graph: true,
		properties: true,
		talk: false,
	});
	layout.openTalk();
	expect(visiblePanels("wide", layout.store.getState())).toMatchObject({
		graph: true,
		properties: false,
		talk: true,
	});
});

it("shows one thing at a time on a small screen", () => {
	const layout = createLayout();
	layout.openProperties(true);
	expect(visiblePanels("small", layout.store.getState())).toEqual({
		graph: false,
		properties: true,
		talk: false,
		inspector: false,
	});
	layout.showCall(6);
	expect(visiblePanels("small", layout.store.getState())).toEqual({
		graph: false,
		properties: false,
		talk: false,
		inspector: true,
	});
});

it("keeps properties beside the graph on a middle-sized screen", () => {
	const layout = createLayout();
	layout.openProperties(false);
	expect(visiblePanels("medium", layout.store.getState())).toMatchObject({ graph: true, properties: true });
});

it("closes the top-most panel only, and says when there is none", () => {
	const layout = createLayout();
	layout.openTalk();
	layout.showCall(1);
	expect(layout.closeTopMost()).toBe(true);
	expect(layout.store.getState()).toMatchObject({ column: null, inspector: true });
	expect(layout.closeTopMost()).toBe(true);
	expect(layout.closeTopMost()).toBe(false);
});

it("remembers how high the inspector was dragged", () => {
	createLayout().resizeDock(250);
	expect(createLayout().store.getState().dockHeight).toBe(250);
	createLayout().resizeDock(10);
	expect(createLayout().store.getState().dockHeight).toBe(160);
});
