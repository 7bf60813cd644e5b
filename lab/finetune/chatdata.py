"""Reads what the verb export wrote. It needs nothing but Python."""
import hashlib
import json
import pathlib


class DataError(Exception):
    """The file or its manifest is not what export wrote. The text says what to do."""


def manifest_path(path):
    path = pathlib.Path(path)
    return path.with_name(path.stem + ".manifest.json")


def read(path):
    """Returns the lines of an exported file, each a list of messages, and its manifest."""
    beside = manifest_path(path)
    try:
        content = pathlib.Path(path).read_bytes()
        manifest = json.loads(beside.read_text("utf-8"))
    except FileNotFoundError as e:
        raise DataError(f"{e.filename}: there is no such file; export once more, both files belong together") from None
    except (ValueError, OSError) as e:
        raise DataError(f"{beside}: {e}; export once more") from None
    if not isinstance(manifest, dict) or manifest.get("version") != 1:
        raise DataError(f"{beside}: no manifest of version 1; use the train.py that came with the library that exported")
    if manifest.get("sha256") != hashlib.sha256(content).hexdigest():
        raise DataError(f"{path}: it is not the file that {beside.name} describes; export once more")
    lines = []
    for n, line in enumerate(content.decode("utf-8").removesuffix("\n").split("\n"), 1):  # splitlines knows more line ends
        try:
            messages = json.loads(line)["messages"]
            roles = [m["role"] for m in messages]
            texts = [m["content"] for m in messages]
        except (ValueError, KeyError, TypeError):
            raise DataError(f"{path}, line {n}: no chat; export once more") from None
        if roles != ["system"] + ["user", "assistant"] * ((len(roles) - 1) // 2) or len(roles) < 3:
            raise DataError(f"{path}, line {n}: the roles are {', '.join(roles)}; want system, then user and assistant in turn")
        if not all(isinstance(t, str) for t in texts) or not texts[-1].endswith(";"):
            raise DataError(f"{path}, line {n}: the last message is no statement that ends in a semicolon")
        lines.append(messages)
    if len(lines) != manifest.get("kept"):
        raise DataError(f"{path}: {len(lines)} lines, and the manifest counts {manifest.get('kept')}; export once more")
    return lines, manifest
