"""Small files in the format of the public texts."""

import csv


def write_texts(folder, sms=True, rows=120):
    """Texts whose words tell the label most of the time; every fourth is for testing."""
    _write(folder / "tweets_sentiment" / "tweets.csv", "positive", ("lovely sunny", "gloomy rainy"), rows)
    if sms:
        _write(folder / "sms_spam" / "messages.csv", "spam", ("winner prize", "dinner tonight"), rows)
    return folder


def _write(path, label, words, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([label, "split", "text"])
        for row in range(rows):
            mark = row * 7 % 3 > 0
            told = words[0] if mark != (row % 10 == 0) else words[1]
            writer.writerow([int(mark), "test" if row % 4 == 1 else "train", f"{told}, word{row % 13}"])
