/**
 * The graph as a picture: shapes for an SVG, the same for the screen and for a file. Pure: text is measured by
 * its letters. `svgText` writes the shapes; the editor's panels draw them with React.
 */
import { deriveGraph, type GraphEdge, type GraphNode } from "./derive";
import { labelSize } from "./labelSize";
import { stageTitle } from "./labels";
import { completeLayout, STAGE_HEIGHT, STAGE_WIDTH } from "./layout";
import { type Mark, type Marks, NO_MARKS } from "./marks";
import { type Box, type Course, routeWires } from "./routes";
import type { Playbook } from "./types";

/** An SVG element; the names of its attributes are React's. */
export interface Shape {
	readonly tag: string;
	readonly attrs: Readonly<Record<string, string | number>>;
	readonly children: readonly (Shape | string)[];
}

/** Colours by what they are for. */
export type Palette = Readonly<Record<"ground" | "card" | "line" | "text" | "quiet" | "edge" | Mark, string>>;

/** For files: readable on paper, and in programs that know no variables. */
export const PAPER: Palette = {
	ground: "#ffffff",
	card: "#ffffff",
	line: "#b9c0cb",
	text: "#1b2130",
	quiet: "#5b6575",
	edge: "#98a2b3",
	added: "#0b7a4b",
	removed: "#c0262d",
	changed: "#a85a00",
};
/** For the screen: the theme's own. */
export const THEME: Palette = {
	ground: "var(--ps-ground)",
	card: "var(--ps-raised)",
	line: "var(--ps-line-strong)",
	text: "var(--ps-text)",
	quiet: "var(--ps-text-quiet)",
	edge: "var(--ps-edge)",
	added: "var(--ps-ok)",
	removed: "var(--ps-danger)",
	changed: "var(--ps-warn)",
};

const SIGN_WIDTH = 110;
const SIGN_HEIGHT = 28;
const MARGIN = 32;
const NAME_LETTERS = 24;
const TEXT_LETTERS = 28;
const LABEL_LETTER = 6.4;
const FONT = 'Inter, system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
const MARK_WORDS: Record<Mark, string> = { added: "+ added", removed: "− removed", changed: "~ changed" };
const DASHES = { goto: "", call: "6 4", return: "1.5 4" } as const;

function shape(tag: string, attrs: Shape["attrs"], ...children: (Shape | string)[]): Shape {
	return { tag, attrs, children };
}

function cut(text: string, letters: number): string {
	const line = text.trim().split("\n")[0]?.trim() ?? "";
	return line.length > letters ? `${line.slice(0, letters - 1)}…` : line;
}

function boxOf({ type, position }: GraphNode): Box {
	const size =
		type === "sign"
			? { width: SIGN_WIDTH, height: SIGN_HEIGHT }
			: { width: STAGE_WIDTH, height: STAGE_HEIGHT };
	return { ...position, ...size };
}

function text(x: number, y: number, words: string, attrs: Shape["attrs"] = {}): Shape {
	return shape("text", { x, y, fontSize: 12, ...attrs }, words);
}

function stageShapes(node: GraphNode & { type: "stage" }, colours: Palette, mark: Mark | undefined): Shape[] {
	const { x, y, width, height } = boxOf(node);
	const { stage, initial, tokens } = node.data;
	const tools = stage.tools?.length ?? 0;
	const signs = `${initial ? "⚑ " : ""}${stage.kind === "end" ? "■ " : ""}${stage.kind === "raw" ? "‹› " : ""}`;
	const stroke = mark ? colours[mark] : colours.line;
	const frame = { x, y, width, height, rx: 8, fill: colours.card, stroke, strokeWidth: mark ? 2.5 : 1 };
	const dashes: Shape["attrs"] = mark === "removed" ? { strokeDasharray: "5 4" } : {};
	const quiet = { fill: colours.quiet };
	const parts = [
		shape("rect", { ...frame, ...dashes }),
		text(x + 12, y + 25, signs + cut(stageTitle(stage), NAME_LETTERS), { fontSize: 13, fontWeight: 600 }),
		text(x + 12, y + 46, cut(stage.systemPrompt, TEXT_LETTERS) || "No prompt yet", quiet),
		text(x + 12, y + 68, `~${tokens} tok${tools > 0 ? ` · ⚒ ${tools}` : ""}`, quiet),
	];
	if (stage.kind === "end") {
		const outer = { x: x - 3, y: y - 3, width: width + 6, height: height + 6, rx: 11 };
		parts.unshift(shape("rect", { ...outer, fill: "none", stroke, strokeWidth: 1 }));
	}
	if (mark) {
		const words = { fill: colours[mark], fontWeight: 600, textAnchor: "end" };
		parts.push(text(x + width - 10, y + 68, MARK_WORDS[mark], words));
	}
	return parts;
}

function signShapes(node: GraphNode & { type: "sign" }, colours: Palette): Shape[] {
	const { x, y, width, height } = boxOf(node);
	const frame = {
		x,
		y,
		width,
		height,
		rx: 14,
		fill: colours.card,
		stroke: colours.line,
		strokeDasharray: "4 3",
	};
	const words = text(x + width / 2, y + 18, cut(node.data.label, 16), {
		fill: colours.quiet,
		textAnchor: "middle",
	});
	return [shape("rect", frame), words];
}

function wireShapes({ data }: GraphEdge, course: Course, colours: Palette, mark: Mark | undefined): Shape[] {
	const off: Shape["attrs"] = data.transition.disabled ? { opacity: 0.4 } : {};
	const dashes: Shape["attrs"] = DASHES[data.mode] ? { strokeDasharray: DASHES[data.mode] } : {};
	const stroke = mark ? colours[mark] : colours.edge;
	const line = { d: course.path, fill: "none", stroke, strokeWidth: mark ? 2.5 : 1.5, ...dashes, ...off };
	return [shape("path", { ...line, markerEnd: `url(#ps-drawn-${mark ?? "edge"})` })];
}

function labelShapes({ data }: GraphEdge, course: Course, colours: Palette, mark: Mark | undefined): Shape[] {
	const words = mark ? `${MARK_WORDS[mark][0]} ${data.sentence}` : data.sentence;
	const { width: whole, height } = labelSize(words);
	const width = Math.min(course.label.cutTo ?? whole, whole);
	const { x, y } = course.label;
	const frame = { x: x - width / 2, y: y - height / 2, width, height, rx: 12, fill: colours.card };
	const shown = cut(words, Math.max(3, Math.floor((width - 16) / LABEL_LETTER)));
	const colour = mark ? colours[mark] : colours.text;
	return [
		shape("rect", { ...frame, stroke: mark ? colour : colours.line, strokeWidth: 1 }),
		shape("title", {}, words),
		text(x, y + 4, shown, { textAnchor: "middle", fill: colour }),
	];
}

function arrow(id: string, fill: string): Shape {
	const marker = {
		id,
		viewBox: "0 0 8 8",
		refX: 7,
		refY: 4,
		markerWidth: 9,
		markerHeight: 9,
		orient: "auto",
	};
	return shape(
		"marker",
		{ ...marker, markerUnits: "userSpaceOnUse" },
		shape("path", { d: "M0.5 0.8 7.2 4 0.5 7.2z", fill }),
	);
}

function around(boxes: readonly Box[]) {
	const left = Math.min(...boxes.map(({ x }) => x)) - MARGIN;
	const top = Math.min(...boxes.map(({ y }) => y)) - MARGIN;
	const right = Math.max(...boxes.map(({ x, width }) => x + width)) + MARGIN;
	const bottom = Math.max(...boxes.map(({ y, height }) => y + height)) + MARGIN;
	return { x: left, y: top, width: Math.ceil(right - left), height: Math.ceil(bottom - top) };
}

function coursesOf(nodes: readonly GraphNode[], edges: readonly GraphEdge[]): Map<string, Course> {
	const boxes = new Map(nodes.map((node) => [node.id, boxOf(node)]));
	const wires = edges.map(({ id, source, target, data }) => ({
		id,
		source,
		target,
		label: labelSize(data.sentence),
	}));
	return routeWires(wires, boxes);
}

export interface DrawOptions {
	readonly marks?: Marks;
	readonly palette?: Palette;
}

/** The whole graph. Stages that have no place get one, as in the editor. */
export function drawGraph(
	playbook: Playbook,
	{ marks = NO_MARKS, palette = PAPER }: DrawOptions = {},
): Shape {
	const { nodes, edges } = deriveGraph(completeLayout(playbook));
	const courses = coursesOf(nodes, edges);
	const wired = edges.flatMap((edge) => {
		const course = courses.get(edge.id);
		return course ? [{ edge, course, mark: marks.transitions.get(edge.data.transition.id) }] : [];
	});
	const labels = wired.filter(({ edge }) => edge.id === edge.data.transition.id);
	const labelBoxes = labels.map(({ edge, course: { label } }) => {
		const { width, height } = labelSize(edge.data.sentence);
		return { x: label.x - width / 2, y: label.y - height / 2, width, height };
	});
	const { x, y, width, height } = around([...nodes.map(boxOf), ...labelBoxes]);
	const arrows = (["edge", "added", "removed", "changed"] as const).map((name) =>
		arrow(`ps-drawn-${name}`, palette[name]),
	);
	return shape(
		"svg",
		{ viewBox: `${x} ${y} ${width} ${height}`, width, height, fontFamily: FONT, fill: palette.text },
		shape("title", {}, playbook.name || playbook.id),
		shape("defs", {}, ...arrows),
		shape("rect", { x, y, width, height, fill: palette.ground }),
		...wired.flatMap(({ edge, course, mark }) => wireShapes(edge, course, palette, mark)),
		...nodes.map((node) =>
			shape(
				"g",
				{},
				...(node.type === "stage"
					? stageShapes(node, palette, marks.stages.get(node.id))
					: signShapes(node, palette)),
			),
		),
		...labels.map(({ edge, course, mark }) => shape("g", {}, ...labelShapes(edge, course, palette, mark))),
	);
}

const KEEP_CASE = new Set(["viewBox", "refX", "refY", "markerWidth", "markerHeight", "markerUnits"]);
const attributeName = (name: string) =>
	KEEP_CASE.has(name) ? name : name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
/** Control characters and non-characters are left out: XML forbids them altogether. */
const allowed = (letter: string) =>
	(letter >= " " && letter < "\ufffe") || letter > "\uffff" || "\t\n\r".includes(letter);
const escaped = (value: string) =>
	[...value]
		.filter(allowed)
		.map((letter) => ENTITIES[letter] ?? letter)
		.join("");

function written({ tag, attrs, children }: Shape): string {
	const shown = Object.entries(attrs).map(
		([name, value]) => ` ${attributeName(name)}="${escaped(String(value))}"`,
	);
	const inner = children
		.map((child) => (typeof child === "string" ? escaped(child) : written(child)))
		.join("");
	return inner ? `<${tag}${shown.join("")}>${inner}</${tag}>` : `<${tag}${shown.join("")}/>`;
}

/** The shapes as an SVG file. */
export function svgText({ attrs, ...root }: Shape): string {
	return `${written({ ...root, attrs: { xmlns: "http://www.w3.org/2000/svg", ...attrs } })}\n`;
}
