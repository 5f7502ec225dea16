import { createElement, Fragment, type ReactNode } from "react";

/** An SVG element as data; its attributes have React's names. */
interface DrawnShape {
	readonly tag: string;
	readonly attrs: Readonly<Record<string, string | number>>;
	readonly children: readonly (DrawnShape | string)[];
}

function drawn({ tag, attrs, children }: DrawnShape, key?: number): ReactNode {
	const inner = children.map((child, index) =>
		typeof child === "string" ? createElement(Fragment, { key: index }, child) : drawn(child, index),
	);
	return createElement(tag, { ...attrs, key }, ...inner);
}

/** A picture made of shapes, under a name. */
export function Drawing({ picture, label }: { picture: DrawnShape; label: string }) {
	return drawn({ ...picture, attrs: { ...picture.attrs, role: "img", "aria-label": label } });
}
