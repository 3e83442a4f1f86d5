"""What a long run has done so far, in a JSON file that is whole at any moment: a run that is cut off shows what it did,
and the next one can go on from there."""

import json
import os
import tempfile


class Record:
    """`content`: a JSON-like value that its owner changes and then saves. Without a path nothing is kept."""

    def __init__(self, path, content):
        self.path, self.content = path, content

    def save(self):
        if not self.path:
            return
        folder = os.path.dirname(os.path.abspath(self.path))
        os.makedirs(folder, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=folder, prefix=".progress-")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(self.content, file, indent=1)
                file.write("\n")
            os.replace(name, self.path)
        except BaseException:
            os.unlink(name)
            raise


def load(path):
    """An earlier run's content; None where there is no such file. A file that is no JSON is an error, told with its
    name."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise SystemExit(f"{path} is no record of a run: {error}; name another file, or remove it") from error
