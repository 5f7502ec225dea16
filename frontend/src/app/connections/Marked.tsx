/** Words of the server, in which backticks mark what is to be typed. */
export function Marked({ text }: { text: string }) {
	return text.split("`").map((part, index) =>
		// biome-ignore lint/suspicious/noArrayIndexKey: the parts have no other name and do not move
		index % 2 === 1 ? <code key={index}>{part}</code> : part,
	);
}
