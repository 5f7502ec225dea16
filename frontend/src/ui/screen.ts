/** How much room there is, for what has to know it in code. */
import { useMediaQuery } from "@mantine/hooks";

const WIDE = "(min-width: 1100px)";
const SMALL = "(max-width: 639px)";

/** From 1100 px on, from 640 px on, below. */
export type Mode = "wide" | "medium" | "small";

export const isSmallScreen = (): boolean => matchMedia(SMALL).matches;

export function useMode(): Mode {
	const wide = useMediaQuery(WIDE, true, { getInitialValueInEffect: false });
	const small = useMediaQuery(SMALL, false, { getInitialValueInEffect: false });
	if (wide) return "wide";
	return small ? "small" : "medium";
}
