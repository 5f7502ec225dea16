/**
 * A rough token count for text that is being typed. Words of Latin script count one token per four letters,
 * other scripts and signs one each; always shown with "~". The real counts are the inspector's.
 */
const PIECES = /[A-Za-z]+|\p{N}{1,3}|[^\s\p{L}\p{N}]|\p{L}/gu;

export function estimateTokens(text: string): number {
	let tokens = 0;
	for (const [piece] of text.matchAll(PIECES)) {
		tokens += /^[A-Za-z]/.test(piece) ? Math.max(1, Math.round(piece.length / 5)) : 1;
	}
	return tokens;
}
