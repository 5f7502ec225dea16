/** An error in the words a person is shown. */
export function words(error: unknown): string {
	if (error instanceof Error && error.message) return error.message;
	return "Something went wrong that has no name.";
}
