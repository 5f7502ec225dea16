/** How large a label on an edge will be, before it is drawn: close enough to find a place for it. */
const MAX_WIDTH = 220;
const HEIGHT = 24;
const LETTER_WIDTH = 6.4;
const PADDING = 20;

export function labelSize(sentence: string): { width: number; height: number } {
	return { width: Math.min(MAX_WIDTH, sentence.length * LETTER_WIDTH + PADDING), height: HEIGHT };
}
