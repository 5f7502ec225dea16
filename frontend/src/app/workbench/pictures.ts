/** The graph as a file: SVG, and PNG at twice the size. */
import { drawGraph, svgText } from "../../playbook/drawing";
import type { Playbook } from "../../playbook/types";

const SCALE = 2;
/** Pixels on a side that every browser can make a picture of. */
const LARGEST = 8000;

export function svgFile(playbook: Playbook): Blob {
	return new Blob([svgText(drawGraph(playbook))], { type: "image/svg+xml" });
}

async function loaded(url: string): Promise<HTMLImageElement> {
	const image = new Image();
	image.src = url;
	await image.decode();
	return image;
}

export async function pngFile(playbook: Playbook): Promise<Blob> {
	const url = URL.createObjectURL(svgFile(playbook));
	try {
		const image = await loaded(url);
		const scale = Math.min(SCALE, LARGEST / Math.max(image.width, image.height));
		const canvas = document.createElement("canvas");
		canvas.width = Math.round(image.width * scale);
		canvas.height = Math.round(image.height * scale);
		canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
		const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
		if (!blob) throw new Error("The browser could not make a picture of this size.");
		return blob;
	} finally {
		URL.revokeObjectURL(url);
	}
}
