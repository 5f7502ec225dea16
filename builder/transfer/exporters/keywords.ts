// Keywords as whole words: composed, in one case, between boundaries; scripts without blanks have one everywhere.

const UNSPACED =
	/[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\u{20000}-\u{3ffff}]/u;
const normal = (value: string) =>
	value.normalize("NFC").toUpperCase().toLowerCase().split(/\s+/u).filter(Boolean).join(" ").normalize("NFC");

function isBoundary(left: string | undefined, right: string | undefined): boolean {
	if (!left || !right || UNSPACED.test(left) || UNSPACED.test(right)) return !/^\p{M}/u.test(right ?? "");
	return !(/[\p{L}\p{N}\p{M}_]/u.test(left) && /[\p{L}\p{N}\p{M}_]/u.test(right));
}

function saysWord(context: TransitionContext, keywords: readonly string[]): boolean {
	const letters = [...normal(context.lastAssistantMessage ?? "")];
	return keywords.some((keyword) => {
		const wanted = [...normal(keyword)];
		return letters.some((_, start) => {
			const end = start + wanted.length;
			const found = wanted.length > 0 && wanted.every((letter, place) => letters[start + place] === letter);
			return found && isBoundary(letters[start - 1], wanted[0]) && isBoundary(wanted.at(-1), letters[end]);
		});
	});
}

function matchesPattern(context: TransitionContext, patterns: readonly string[]): boolean {
	return patterns.some((pattern) => {
		try {
			return new RegExp(pattern, "iu").test(context.lastAssistantMessage ?? "");
		} catch {
			return false;
		}
	});
}
